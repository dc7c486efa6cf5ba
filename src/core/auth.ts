import type { JsonObject } from '../base/json.ts';
import type { SessionOwner } from '../schemas/session.ts';

/**
 * Turns what a user was asked for into a credential tools can use. An AuthConfig is ADK's
 * `{ authScheme, rawAuthCredential, exchangedAuthCredential, credentialKey }`, a credential ADK's AuthCredential.
 */
export interface CredentialExchanger {
  /** The AuthConfig as the user is shown it: with the address to visit, for OAuth and OpenID Connect, and without secrets. */
  prepare(authConfig: JsonObject, owner: SessionOwner, signal: AbortSignal): Promise<JsonObject>;
  /**
   * The credential in the user's answer to an AuthConfig: codes are traded for tokens, keys taken as they are.
   * `undefined` when the answer holds none.
   */
  exchange(request: CredentialAnswer, signal: AbortSignal): Promise<JsonObject | undefined>;
}

/** What a tool asked for, and what the user answered. */
export interface CredentialAnswer {
  readonly owner: SessionOwner;
  readonly authConfig: JsonObject;
  readonly answer: JsonObject;
}
