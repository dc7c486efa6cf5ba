import type { JsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { type AccessLimits, accessLimitsOf } from '../access-limits.ts';
import { credentialAdditions, type RequestAdditions } from '../auth/apply-credential.ts';
import { CredentialSource } from '../auth/credential-source.ts';
import type { CredentialStore } from '../auth/credential-store.ts';
import { type DocumentOperation, follow, type OpenApiDocument } from './document.ts';

export interface OpenApiAuth extends AccessLimits {
  /** Credentials by the name of their security scheme in the document (ADK's AuthCredential). */
  readonly credentials?: Readonly<Record<string, JsonObject>>;
  /** A scheme and a credential for all operations. Each overrides that part of the document. */
  readonly authScheme?: JsonObject;
  readonly authCredential?: JsonObject;
  readonly credentialKey?: string;
  /** The store for granted credentials; default: in memory, for this toolset. */
  readonly store: CredentialStore;
  /** The URL of the document, if the author did not write it. */
  readonly baseUrl?: string;
}

/** Finds the credential sources of an operation. Operations with the same scheme share a source. */
export class OpenApiSecurity {
  readonly #auth: OpenApiAuth;
  readonly #document: OpenApiDocument;
  readonly #sources = new Map<string, CredentialSource>();

  constructor(document: OpenApiDocument, auth: OpenApiAuth) {
    this.#document = document;
    this.#auth = auth;
  }

  /** The first alternative with configured credentials; else no credential, if that is allowed; else the first, from the user. */
  sourcesFor({ security }: DocumentOperation): readonly CredentialSource[] {
    if (this.#auth.authScheme) return [this.#source('(all)', this.#auth.authScheme)];
    const { credentials = {}, authCredential } = this.#auth;
    const has = (name: string): boolean => authCredential !== undefined || Object.hasOwn(credentials, name);
    const chosen =
      security.find((names) => Object.keys(names).length > 0 && Object.keys(names).every(has)) ??
      security.find((names) => Object.keys(names).length === 0) ??
      security[0] ??
      {};
    return Object.keys(chosen).map((name) => this.#source(name, this.#document.securitySchemes[name]));
  }

  #source(name: string, scheme: unknown): CredentialSource {
    const known = this.#sources.get(name);
    if (known) return known;
    const { credentials = {}, authCredential, authScheme: own, credentialKey, store, baseUrl } = this.#auth;
    const rawAuthCredential = Object.hasOwn(credentials, name) ? credentials[name] : authCredential;
    const authScheme = follow(scheme, (ref) => this.#document.resolve(ref));
    const isFetched = baseUrl !== undefined && scheme !== own;
    const options = { ...accessLimitsOf(this.#auth), ...(isFetched && { named: [baseUrl] }) };
    const source = new CredentialSource({ authScheme, rawAuthCredential, credentialKey }, store, options);
    this.#sources.set(name, source);
    return source;
  }
}

/** The headers, query and cookies of the credentials. `undefined` after one was requested from the user. */
export async function additionsFrom(
  sources: readonly CredentialSource[],
  ctx: ToolContext,
): Promise<RequestAdditions | undefined> {
  let all: RequestAdditions = { headers: {}, query: {}, cookies: {} };
  for (const source of sources) {
    const credential = await source.get(ctx);
    if (!credential) return undefined;
    const { headers, query, cookies } = credentialAdditions(source.config.authScheme, credential);
    all = {
      headers: { ...all.headers, ...headers },
      query: { ...all.query, ...query },
      cookies: { ...all.cookies, ...cookies },
    };
  }
  return all;
}
