import { z } from 'zod';
import { Role } from './principal.ts';

/** How users of the web UI may log in. */
export const LoginMethods = z.object({
  /** By an API key. */
  key: z.boolean(),
  /** At this OpenID Connect issuer. */
  issuer: z.string().optional(),
});
export type LoginMethods = z.infer<typeof LoginMethods>;

/** The caller as the server knows it. */
export const Me = z.object({
  id: z.string(),
  /** Absent: the caller is a program without a user of its own. */
  userId: z.string().optional(),
  actsForUsers: z.boolean(),
  /** With the roles that they include. */
  roles: z.array(Role),
  /** Absent: all. */
  apps: z.array(z.string()).optional(),
  /** ISO 8601. */
  expiresAt: z.string().optional(),
  /** Whether the request has the cookie of a login, which can be logged out. */
  loggedIn: z.boolean(),
});
export type Me = z.infer<typeof Me>;
