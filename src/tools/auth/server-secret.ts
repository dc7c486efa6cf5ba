import { lazily } from '../../base/lazily.ts';
import { nodeCrypto } from '../../base/node-crypto.ts';

/** Gives what only this server knows, and the replicas beside it: the base of all that it signs and seals. */
export type ServerSecret = () => Promise<string>;

const ofProcess = lazily(() => nodeCrypto().randomBytes(32).toString('base64url'));

/** A secret that ends with the process: for servers that keep nothing. */
export const processSecret: ServerSecret = () => Promise.resolve(ofProcess());

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Seals a text so that only this server can read it, and only for what it was sealed for. */
export function sealText(text: string, about: string, secret: string): string {
  const { createCipheriv, randomBytes } = nodeCrypto();
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** The sealed text; `undefined` for what this server did not seal, or sealed for something else. */
export function openSealed(sealed: string, about: string, secret: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = nodeCrypto()
    .createDecipheriv(algorithm, keyOf(secret), bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(about));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

const keyOf = (secret: string): Buffer =>
  Buffer.from(nodeCrypto().hkdfSync('sha256', secret, '', 'agent-server seal', 32));
