import type { JsonObject } from '../base/json.ts';
import type { SessionOwner } from '../schemas/session.ts';

/**
 * Turns what a user was asked for into a credential tools can use. An AuthConfig is ADK's
 * `{ authScheme, rawAuthCredential, exchangedAuthCredential, credentialKey }`, a credential ADK's AuthCredential.
 */
export interface CredentialExchanger {
  /** What only this server knows, and the replicas beside it. */
  secret(): Promise<string>;
  /**
   * The AuthConfig of a tool as it may be stored and shown: without secrets. What the exchange needs of them is sealed, so
   * that nobody but this server can read or make it.
   */
  seal(request: CredentialRequest): Promise<JsonObject>;
  /** The AuthConfig as the user is shown it: with the address to visit, for OAuth and OpenID Connect, and without secrets. */
  prepare(request: CredentialRequest, signal: AbortSignal): Promise<JsonObject>;
  /**
   * The credential in the user's answer to an AuthConfig: codes are traded for tokens, keys taken as they are.
   * `undefined` when the answer holds none, and when there is something to trade that this server did not seal.
   */
  exchange(request: CredentialAnswer, signal: AbortSignal): Promise<JsonObject | undefined>;
}

/** What a tool asks for, in which call. */
export interface CredentialRequest {
  readonly owner: SessionOwner;
  readonly functionCallId: string;
  readonly authConfig: JsonObject;
}

/** What the user answered. `authConfig` is as it was stored. */
export interface CredentialAnswer extends CredentialRequest {
  readonly answer: JsonObject;
}
