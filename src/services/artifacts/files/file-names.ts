import { createHash } from 'node:crypto';

/** Most file systems limit names to 255 bytes. */
const maxEncoded = 160;

/**
 * A name as one segment of a path: letters, digits, `-`, `_` and inner dots stay, all else is percent-encoded. So no name
 * leads out of its folder, is hidden, or looks like an internal file. Names that become too long end in a digest, and
 * cannot be decoded.
 */
export function encodeSegment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed())
    .replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, '%2E');
  if (encoded.length <= maxEncoded) return encoded;
  return `${encoded.slice(0, maxEncoded - 70)}~${createHash('sha256').update(name).digest('hex')}`;
}

/** The name of a segment; `undefined` for one with a digest, and for one that this server did not encode. */
export function decodeSegment(segment: string): string | undefined {
  if (segment.includes('~') || segment.startsWith('.')) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
