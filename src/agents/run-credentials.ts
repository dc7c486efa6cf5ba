import { deepFreeze, define, isJsonObject, type JsonObject } from '../base/json.ts';
import type { ReadonlySession, Session } from '../schemas/session.ts';

/** The users' credentials of a run, by its session object. Not in the state, because clients can write state. */
const credentials = new WeakMap<ReadonlySession, Map<string, JsonObject>>();

/** Keeps a credential for the rest of the invocation and shows it in the state, as ADK does. It is never stored. */
export function keepCredential(session: Session, authConfig: JsonObject, credential: JsonObject): void {
  const key = credentialKeyOf(authConfig);
  if (key === undefined) return;
  const known = credentials.get(session) ?? new Map<string, JsonObject>();
  credentials.set(session, known.set(key, credential));
  define(session.state, key, deepFreeze(credential));
}

/** The credential the user gave for the AuthConfig in this invocation. */
export function credentialOf(session: ReadonlySession, authConfig: JsonObject): JsonObject | undefined {
  const key = credentialKeyOf(authConfig);
  const credential = key === undefined ? undefined : credentials.get(session)?.get(key);
  return isJsonObject(credential) ? credential : undefined;
}

/** The state key under which ADK keeps it. */
function credentialKeyOf(authConfig: JsonObject): string | undefined {
  const key = authConfig['credentialKey'] ?? authConfig['credential_key'];
  return typeof key === 'string' && key !== '' ? `temp:${key}` : undefined;
}
