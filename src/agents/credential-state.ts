import { isJsonObject, type JsonObject } from '../base/json.ts';

/** Where the credential for an AuthConfig waits during the invocation that got it: never stored. */
export function credentialKeyOf(authConfig: JsonObject): string | undefined {
  const key = authConfig['credentialKey'] ?? authConfig['credential_key'];
  return typeof key === 'string' && key !== '' ? `temp:${key}` : undefined;
}

/** The credential the user gave for the AuthConfig in this invocation. */
export function credentialOf(state: JsonObject, authConfig: JsonObject): JsonObject | undefined {
  const key = credentialKeyOf(authConfig);
  const value = key !== undefined && Object.hasOwn(state, key) ? state[key] : undefined;
  return isJsonObject(value) ? value : undefined;
}
