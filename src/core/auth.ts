import type { JsonObject } from '../base/json.ts';
import type { SessionOwner } from '../schemas/session.ts';

/**
 * Exchanges a user's answer to a credential request for a credential that tools can use. An AuthConfig is ADK's
 * `{ authScheme, rawAuthCredential, exchangedAuthCredential, credentialKey }`, a credential ADK's AuthCredential.
 */
export interface CredentialExchanger {
  /** A secret that only this server and its replicas know. */
  secret(): Promise<string>;
  /**
   * The AuthConfig of a tool in a form that may be stored and shown. The secrets that the exchange needs are encrypted, so
   * that only this server can read or make them.
   */
  seal(request: CredentialRequest): Promise<JsonObject>;
  /** The AuthConfig as the user sees it: without secrets, and for OAuth and OpenID Connect with the URL to visit. */
  prepare(request: CredentialRequest, signal: AbortSignal): Promise<JsonObject>;
  /**
   * The credential in the user's answer to an AuthConfig: exchanges codes for tokens, returns keys unchanged. `undefined`
   * if the answer has no credential, or if it refers to secrets that this server did not encrypt.
   */
  exchange(request: CredentialAnswer, signal: AbortSignal): Promise<JsonObject | undefined>;
}

/** A tool's request for a credential, in one function call. */
export interface CredentialRequest {
  readonly owner: SessionOwner;
  readonly functionCallId: string;
  readonly authConfig: JsonObject;
}

/** The user's answer. `authConfig` is the stored one. */
export interface CredentialAnswer extends CredentialRequest {
  readonly answer: JsonObject;
}
