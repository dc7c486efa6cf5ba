import { deepFreeze, define, isJsonObject, type JsonObject } from '../base/json.ts';
import type { Session } from '../schemas/session.ts';

/** The credentials users gave, by the session as a run holds it: a client can write its state, but not here. */
const credentials = new WeakMap<Session, Map<string, JsonObject>>();

/** Keeps a credential for the rest of the invocation; the state shows it to agents that look there. It is never stored. */
export function keepCredential(session: Session, authConfig: JsonObject, credential: JsonObject): void {
  const key = credentialKeyOf(authConfig);
  if (key === undefined) return;
  const known = credentials.get(session) ?? new Map<string, JsonObject>();
  credentials.set(session, known.set(key, credential));
  define(session.state, key, deepFreeze(credential));
}

/** The credential the user gave for the AuthConfig in this invocation. */
export function credentialOf(session: Session, authConfig: JsonObject): JsonObject | undefined {
  const key = credentialKeyOf(authConfig);
  const credential = key === undefined ? undefined : credentials.get(session)?.get(key);
  return isJsonObject(credential) ? credential : undefined;
}

/** Where ADK keeps it. */
function credentialKeyOf(authConfig: JsonObject): string | undefined {
  const key = authConfig['credentialKey'] ?? authConfig['credential_key'];
  return typeof key === 'string' && key !== '' ? `temp:${key}` : undefined;
}
