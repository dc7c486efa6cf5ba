import { AppError } from '../../base/errors.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import type { ToolContext } from '../../core/runtime.ts';
import type { SessionOwner } from '../../schemas/session.ts';
import { isGoogleApi, type Reach } from '../reach.ts';
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
  answeredCredential,
  type OAuthSetting,
  oauthTask,
  outboundFor,
  prepared,
  tradedCredential,
} from './exchange.ts';
import { processSecret } from './server-secret.ts';
import { isMachineAccount, serviceAccountAccess } from './service-account.ts';

/** What of a tool's context it takes to get a credential. */
export type CredentialAsker = Pick<ToolContext, 'session' | 'signal' | 'getAuthResponse' | 'requestCredential'> & {
  readonly run?: Pick<ToolContext['run'], 'credentials'>;
};

export interface CredentialSourceOptions extends Reach {
  /** Addresses that the author wrote down. Default: those in the config. */
  readonly named?: readonly (string | undefined)[];
}

/** Seconds before its end at which a token is no longer worth using. */
const margin = 60;

/**
 * Gets tools their credential, whatever it takes: a key as configured, a token for the client or the service account,
 * or one that the user grants. Secrets never reach events; tokens are kept in the store, and renewed.
 */
export class CredentialSource {
  readonly config: AuthConfig;
  readonly #store: CredentialStore;
  readonly #outbound: OutboundFetch;
  readonly #reach: Reach;
  /** Tokens being fetched, so that parallel calls fetch (and rotate) once. */
  readonly #pending = new Map<string, Promise<AuthCredential>>();

  /** `config` is an ADK AuthConfig. Throws ConfigurationException. */
  constructor(
    config: unknown,
    store: CredentialStore = new InMemoryCredentials(),
    options: CredentialSourceOptions = {},
  ) {
    this.config = authConfigFrom(config);
    this.#store = store;
    this.#reach = options;
    this.#outbound = outboundFor(options.publicOnly ? [] : (options.named ?? addressesIn(this.config)));
  }

  /** Throws ConfigurationException when the credential must not be shown to the service at this address. */
  checkService(address: string): void {
    const own = this.config.rawAuthCredential;
    const { machineCredential: allowed = 'anywhere' } = this.#reach;
    if (!isServiceAccount(own) || !isMachineAccount(own?.serviceAccount ?? defaultAccount)) return;
    if (allowed === 'anywhere' || (allowed === 'google' && isGoogleApi(address))) return;
    throw new AppError(
      'ConfigurationException',
      `The credential of this machine may not be shown to "${new URL(address).host}": run the server with --allow-config-credentials to allow it`,
    );
  }

  /**
   * A credential that is good now, or `undefined` once the user has been asked for it: the call is run again with the
   * answer. Throws `unauthenticated` when the credential cannot be had.
   */
  async get(ctx: CredentialAsker): Promise<AuthCredential | undefined> {
    const { authScheme, rawAuthCredential: own } = this.config;
    if (isServiceAccount(own)) return this.#serverToken(own, ctx);
    if (authScheme.type === 'oauth2' && isClientOnly(authScheme)) return this.#serverToken(own, ctx);
    if (own?.apiKey !== undefined || own?.http || own?.oauth2?.accessToken !== undefined) return own;
    return (await this.#known(ctx)) ?? (await this.#answered(ctx)) ?? (await this.#ask(ctx));
  }

  /** The service did not take the credential: the next call gets a renewed one, or asks again. */
  async refused(ctx: ToolContext): Promise<void> {
    for (const owner of [ctx.session, server]) {
      const known = await this.#store.load(owner, this.config.credentialKey);
      if (known?.oauth2?.refreshToken !== undefined) {
        await this.#save(owner, { ...known, oauth2: { ...known.oauth2, expiresAt: 0 } });
      } else {
        await this.#store.delete(owner, this.config.credentialKey);
      }
    }
  }

  /** A token that belongs to the server rather than to a user. */
  async #serverToken(own: AuthCredential | undefined, ctx: CredentialAsker): Promise<AuthCredential> {
    const known = await this.#store.load(server, this.config.credentialKey);
    if (known?.oauth2 && isFresh(known.oauth2)) return known;
    return this.#once(server, async () => {
      const task = oauthTask(this.config, await this.#setting(server, ctx));
      const { ownAccess } = await import('./oauth-grants.ts');
      const oauth2 = task
        ? await ownAccess(task, ctx.signal)
        : await serviceAccountAccess(own?.serviceAccount ?? defaultAccount, this.#outbound, ctx.signal);
      return this.#save(server, { authType: own?.authType ?? 'oauth2', oauth2 });
    });
  }

  async #known(ctx: CredentialAsker): Promise<AuthCredential | undefined> {
    const { session, signal } = ctx;
    const known = await this.#store.load(session, this.config.credentialKey);
    const { oauth2 } = known ?? {};
    if (!known || !oauth2 || isFresh(oauth2)) return known;
    const task = oauthTask(this.config, await this.#setting(session, ctx));
    const { refreshToken } = oauth2;
    if (task && refreshToken !== undefined) {
      try {
        return await this.#once(session, async () => {
          const { refreshAccess } = await import('./oauth-grants.ts');
          return this.#save(session, { ...known, oauth2: await refreshAccess(task, refreshToken, signal) });
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!isRefusal(error)) throw error;
      }
    }
    await this.#store.delete(session, this.config.credentialKey);
    return undefined;
  }

  async #answered(ctx: CredentialAsker): Promise<AuthCredential | undefined> {
    const answer = ctx.getAuthResponse(publicAuthConfig(this.config));
    const given = answer && answeredCredential(answer);
    if (!given) return undefined;
    return this.#once(ctx.session, async () =>
      this.#save(ctx.session, await tradedCredential(this.config, given, await this.#setting(ctx.session, ctx))),
    );
  }

  async #ask(ctx: CredentialAsker): Promise<undefined> {
    ctx.requestCredential(publicAuthConfig(await prepared(this.config, await this.#setting(ctx.session, ctx))));
  }

  async #setting(owner: SessionOwner, { run, signal }: CredentialAsker): Promise<OAuthSetting> {
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
    // Another call's failure may be that it was cancelled, so this one tries for itself.
    if (running) return running.catch(() => this.#once(owner, work));
    const started = work().finally(() => this.#pending.delete(key));
    this.#pending.set(key, started);
    return started;
  }
}

/** Whose tokens of the server's own are; no app has an empty name. */
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
