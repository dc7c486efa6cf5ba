import { lazily } from './lazily.ts';

/**
 * Node's cryptography, loaded when it is first needed: an import would cost every program that imports this package
 * 4 MB. Random UUIDs need none of it: `crypto.randomUUID()` is global.
 */
export const nodeCrypto = lazily(() => process.getBuiltinModule('node:crypto'));
