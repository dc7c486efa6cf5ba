import { z } from 'zod';
import { Name } from './names.ts';
import { PrincipalLimits, Role } from './principal.ts';

const time = z.iso.datetime({ error: 'must be a time such as 2027-01-31T12:00:00Z' });

/**
 * An API key as stores keep it: everything but the secret. Closed, so that a misspelled field (`revokedat`), or one of a
 * newer version, makes the key useless rather than more powerful.
 */
export const ApiKey = z.strictObject({
  /** The part of the key that names it; not secret. */
  id: z.string().regex(/^[0-9a-z]{16}$/, { error: 'must be 16 letters and digits' }),
  /**
   * SHA-256 of the whole key, in hex. A slow hash protects secrets that people can remember; this one has 256 random
   * bits.
   */
  hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in hex' }),
  /** The person or program that has the key, in words for people. */
  owner: z.string().trim().min(1).max(256),
  /** The user the caller is. */
  userId: Name.optional(),
  /** Whether the caller may name any user. */
  actsForUsers: z.boolean(),
  /** The apps it is for. Absent: all. */
  apps: z.array(Name).min(1).optional(),
  roles: z.array(Role).min(1),
  limits: PrincipalLimits.optional(),
  createdAt: time,
  /** Absent: it does not expire. */
  expiresAt: time.optional(),
  /** Present: it is revoked. */
  revokedAt: time.optional(),
});
export type ApiKey = z.infer<typeof ApiKey>;
