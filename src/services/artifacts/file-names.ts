import { createHash } from 'node:crypto';

/** The longest name of a file most file systems take is 255 bytes. */
const maxEncoded = 160;

/**
 * A name as one segment of a path: letters, digits, `-`, `_` and inner dots stay, all else is percent-encoded. So no
 * name leads out of its folder, is hidden, or looks like a file of ours. Names that become too long end in a digest:
 * these cannot be read back.
 */
export function encodeSegment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed())
    .replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, '%2E');
  if (encoded.length <= maxEncoded) return encoded;
  return `${encoded.slice(0, maxEncoded - 70)}~${createHash('sha256').update(name).digest('hex')}`;
}

/** The name a segment was made of; `undefined` for one that ends in a digest, or that is none of ours. */
export function decodeSegment(segment: string): string | undefined {
  if (segment.includes('~') || segment.startsWith('.')) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
