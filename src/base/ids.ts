import { randomFillSync } from 'node:crypto';

const digits = Buffer.from('0123456789abcdef');
const hyphen = 45;
const random = Buffer.allocUnsafe(4096);
const text = Buffer.allocUnsafe(64);
let used = random.length;

/**
 * A random UUID (version 4) behind a prefix of up to 28 ASCII characters. The platform's own is glued together from
 * pieces that live as long as the id and take ten times its room; ids are most of what a session and its trace hold.
 */
export function newId(prefix = ''): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  let at = text.write(prefix, 'latin1');
  for (let index = 0; index < 16; index += 1) {
    let byte = random[used + index] as number;
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    else if (index === 8) byte = (byte & 0x3f) | 0x80;
    if (index === 4 || index === 6 || index === 8 || index === 10) {
      text[at] = hyphen;
      at += 1;
    }
    text[at] = digits[byte >> 4] as number;
    text[at + 1] = digits[byte & 15] as number;
    at += 2;
  }
  used += 16;
  return text.toString('latin1', 0, at);
}
