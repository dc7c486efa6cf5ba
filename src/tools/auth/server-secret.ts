import { lazily } from '../../base/lazily.ts';
import { nodeCrypto } from '../../base/node-crypto.ts';

/** Returns the secret of this server and its replicas, from which all signatures and encryption keys derive. */
export type ServerSecret = () => Promise<string>;

const ofProcess = lazily(() => nodeCrypto().randomBytes(32).toString('base64url'));

/** A secret that lasts as long as the process: for servers without storage. */
export const processSecret: ServerSecret = () => Promise.resolve(ofProcess());

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a text for this server; `openSealed` needs the same `about`. */
export function sealText(text: string, about: string, secret: string): string {
  const { createCipheriv, randomBytes } = nodeCrypto();
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** Decrypts a sealed text. `undefined` if another server sealed it, or with another `about`. */
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

/** The derivation takes longer than a sealing: a server has one secret. */
let known: { readonly secret: string; readonly key: Buffer } | undefined;

function keyOf(secret: string): Buffer {
  if (known?.secret !== secret) {
    known = { secret, key: Buffer.from(nodeCrypto().hkdfSync('sha256', secret, '', 'agent-server seal', 32)) };
  }
  return known.key;
}
