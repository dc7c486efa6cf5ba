import { AppError } from '../../base/errors.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import type { ToolContext } from '../../core/runtime.ts';
import type { SessionOwner } from '../../schemas/session.ts';
import { isGoogleApi, type AccessLimits } from '../access-limits.ts';
import {
  type AuthConfig,
  type AuthCredential,
  authConfigFrom,
  type OAuth2Auth,
  publicAuthConfig,
} from './auth-config.ts';
import { type CredentialStore, InMemoryCredentials } from './credential-store.ts';
import {
  addressesIn,
  credentialInAnswer,
  type OAuthContext,
  oauthTask,
  outboundFor,
  withAuthorizationUri,
  exchangedCredential,
} from './exchange.ts';
import { processSecret } from './server-secret.ts';
import { isMachineAccount, serviceAccountAccess } from './service-account.ts';

/** The part of a tool's context that is needed to get a credential. */
export type CredentialContext = Pick<ToolContext, 'session' | 'signal' | 'getAuthResponse' | 'requestCredential'> & {
  readonly run?: Pick<ToolContext['run'], 'credentials'>;
};

export interface CredentialSourceOptions extends AccessLimits {
  /** URLs that the author configured. Default: those in the config. */
  readonly named?: readonly (string | undefined)[];
}

/** Seconds before its expiry from which a token is not used. */
const margin = 60;

/**
 * Gets credentials for tools: a configured key, a token for the client or the service account, or one that the user
 * grants. Secrets never reach events; tokens are kept in the store, and renewed.
 */
export class CredentialSource {
  readonly config: AuthConfig;
  readonly #store: CredentialStore;
  readonly #outbound: OutboundFetch;
  readonly #limits: AccessLimits;
  /** Fetches in progress, so that parallel calls fetch (and rotate) a token once. */
  readonly #pending = new Map<string, Promise<AuthCredential>>();

  /** `config` is an ADK AuthConfig. Throws ConfigurationException. */
  constructor(
    config: unknown,
    store: CredentialStore = new InMemoryCredentials(),
    options: CredentialSourceOptions = {},
  ) {
    this.config = authConfigFrom(config);
    this.#store = store;
    this.#limits = options;
    this.#outbound = outboundFor(options.publicOnly ? [] : (options.named ?? addressesIn(this.config)));
  }

  /** Throws ConfigurationException when the credential must not be sent to the service at this URL. */
  checkService(address: string): void {
    const own = this.config.rawAuthCredential;
    const { machineCredential: allowed = 'anywhere' } = this.#limits;
    if (!isServiceAccount(own) || !isMachineAccount(own?.serviceAccount ?? defaultAccount)) return;
    if (allowed === 'anywhere' || (allowed === 'google' && isGoogleApi(address))) return;
    throw new AppError(
      'ConfigurationException',
      `The credential of this machine may not be sent to "${new URL(address).host}": run the server with --allow-config-credentials to allow it`,
    );
  }

  /**
   * A valid credential, or `undefined` after it was requested from the user: the call runs again when the user answers.
   * Throws `unauthenticated` when the credential cannot be obtained.
   */
  async get(ctx: CredentialContext): Promise<AuthCredential | undefined> {
    const { authScheme, rawAuthCredential: own } = this.config;
    if (isServiceAccount(own)) return this.#serverToken(own, ctx);
    if (authScheme.type === 'oauth2' && isClientOnly(authScheme)) return this.#serverToken(own, ctx);
    if (own?.apiKey !== undefined || own?.http || own?.oauth2?.accessToken !== undefined) return own;
    return (await this.#stored(ctx)) ?? (await this.#fromAnswer(ctx)) ?? (await this.#requestFromUser(ctx));
  }

  /** Call it when the service rejected the credential: the next `get` renews it, or requests it again. */
  async invalidate(ctx: ToolContext): Promise<void> {
    for (const owner of [ctx.session, server]) {
      const known = await this.#store.load(owner, this.config.credentialKey);
      if (known?.oauth2?.refreshToken !== undefined) {
        await this.#save(owner, { ...known, oauth2: { ...known.oauth2, expiresAt: 0 } });
      } else {
        await this.#store.delete(owner, this.config.credentialKey);
      }
    }
  }

  /** A token of this server, not of a user. */
  async #serverToken(own: AuthCredential | undefined, ctx: CredentialContext): Promise<AuthCredential> {
    const known = await this.#store.load(server, this.config.credentialKey);
    if (known?.oauth2 && isFresh(known.oauth2)) return known;
    return this.#once(server, async () => {
      const task = oauthTask(this.config, await this.#oauthContext(server, ctx));
      const { clientTokens } = await import('./oauth-grants.ts');
      const oauth2 = task
        ? await clientTokens(task, ctx.signal)
        : await serviceAccountAccess(own?.serviceAccount ?? defaultAccount, this.#outbound, ctx.signal);
      return this.#save(server, { authType: own?.authType ?? 'oauth2', oauth2 });
    });
  }

  async #stored(ctx: CredentialContext): Promise<AuthCredential | undefined> {
    const { session, signal } = ctx;
    const known = await this.#store.load(session, this.config.credentialKey);
    const { oauth2 } = known ?? {};
    if (!known || !oauth2 || isFresh(oauth2)) return known;
    const task = oauthTask(this.config, await this.#oauthContext(session, ctx));
    const { refreshToken } = oauth2;
    if (task && refreshToken !== undefined) {
      try {
        return await this.#once(session, async () => {
          const { refreshedTokens } = await import('./oauth-grants.ts');
          return this.#save(session, { ...known, oauth2: await refreshedTokens(task, refreshToken, signal) });
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!isRefusal(error)) throw error;
      }
    }
    await this.#store.delete(session, this.config.credentialKey);
    return undefined;
  }

  /**
   * Exchanges the user's answer to this source's own request. The run has passed that answer on unchanged
   * (`credentialExchanger`): only the source has the client's secret. For requests that tools make by themselves, the run
   * exchanges the answer (`acceptCredential` in `agents/tool-calls/resumed-calls.ts`).
   */
  async #fromAnswer(ctx: CredentialContext): Promise<AuthCredential | undefined> {
    const answer = ctx.getAuthResponse(publicAuthConfig(this.config));
    const given = answer && credentialInAnswer(answer);
    if (!given) return undefined;
    return this.#once(ctx.session, async () =>
      this.#save(
        ctx.session,
        await exchangedCredential(this.config, given, await this.#oauthContext(ctx.session, ctx)),
      ),
    );
  }

  async #requestFromUser(ctx: CredentialContext): Promise<undefined> {
    ctx.requestCredential(
      publicAuthConfig(await withAuthorizationUri(this.config, await this.#oauthContext(ctx.session, ctx))),
    );
  }

  async #oauthContext(owner: SessionOwner, { run, signal }: CredentialContext): Promise<OAuthContext> {
    const secret = run?.credentials ? await run.credentials.secret() : await processSecret();
    return { owner, signal, secret, outbound: this.#outbound };
  }

  async #save(owner: SessionOwner, credential: AuthCredential): Promise<AuthCredential> {
    await this.#store.save(owner, this.config.credentialKey, credential);
    return credential;
  }

  async #once(owner: SessionOwner, work: () => Promise<AuthCredential>): Promise<AuthCredential> {
    const key = JSON.stringify([owner.appName, owner.userId]);
    const running = this.#pending.get(key);
    // The other call may have failed because it was cancelled, so this call tries, too.
    if (running) return running.catch(() => this.#once(owner, work));
    const started = work().finally(() => this.#pending.delete(key));
    this.#pending.set(key, started);
    return started;
  }
}

/** The owner of this server's tokens; no app has an empty name. */
const server: SessionOwner = { appName: '', userId: '' };
const defaultAccount = {
  scopes: ['https://www.googleapis.com/auth/cloud-platform'],
  useDefaultCredential: true,
  useIdToken: false,
};

const isServiceAccount = (own: AuthCredential | undefined): boolean =>
  own?.authType === 'serviceAccount' || own?.serviceAccount !== undefined;

const isClientOnly = ({ flows }: { flows: { authorizationCode?: unknown; clientCredentials?: unknown } }): boolean =>
  flows.clientCredentials !== undefined && flows.authorizationCode === undefined;

const isFresh = ({ accessToken, expiresAt = Infinity }: OAuth2Auth): boolean =>
  accessToken !== undefined && expiresAt > Date.now() / 1000 + margin;

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'unauthenticated';
