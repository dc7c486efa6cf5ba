import { AppError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ReadonlyContext, Tool, ToolContext } from '../../core/runtime.ts';
import { accessLimitsOf } from '../access-limits.ts';
import { credentialAdditions } from '../auth/apply-credential.ts';
import type { AuthCredential } from '../auth/auth-config.ts';
import { CredentialSource } from '../auth/credential-source.ts';
import { pendingCredential } from '../authenticated-tool.ts';
import { functionTool } from '../function-tool.ts';
import { headerMap, type Headers, type McpOptions } from './connection/options.ts';

/** The call waits for the user, and runs again with the answer. `response` is the tool's response until then. */
export class AwaitingUser {
  readonly response: JsonObject;

  constructor(response: JsonObject) {
    this.response = response;
  }
}

/** The headers of requests to a server, per user. */
export class McpAccess {
  readonly #options: McpOptions;
  readonly #source: CredentialSource | undefined;

  /** Throws ConfigurationException for an invalid auth config. */
  constructor(options: McpOptions) {
    this.#options = options;
    if (options.auth === undefined) return;
    this.#source = new CredentialSource(options.auth, options.store, accessLimitsOf(options));
    const { connection } = options;
    if ('sse' in connection) this.#source.checkService(connection.sse.url);
    if ('streamableHttp' in connection) this.#source.checkService(connection.streamableHttp.url);
  }

  /** The headers for listing; `undefined` while the credential is missing and only the user can grant it. */
  async forListing(ctx: ReadonlyContext): Promise<Headers | undefined> {
    if (!this.#source) return this.#headers(ctx);
    const { session, signal } = ctx;
    const asker = { session, signal, getAuthResponse: () => undefined, requestCredential: () => {} };
    const credential = await this.#source.get(asker);
    return credential && this.#headers(ctx, credential);
  }

  /** Runs `work` with the headers of a call. If the server rejects the credential, renews it and repeats `work` once. */
  async with<T>(ctx: ToolContext, work: (headers: Headers) => Promise<T>): Promise<T | AwaitingUser> {
    const source = this.#source;
    if (!source) return work(await this.#headers(ctx.run));
    const first = await source.get(ctx);
    if (!first) return new AwaitingUser(pendingCredential);
    try {
      return await work(await this.#headers(ctx.run, first));
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
    }
    await source.invalidate(ctx);
    const second = await source.get(ctx);
    return second ? work(await this.#headers(ctx.run, second)) : new AwaitingUser(pendingCredential);
  }

  /** Replaces the tools of a server that lists none before the user grants access. */
  grantTool(name: string): Tool {
    const { name: server } = this.#options;
    return functionTool({
      name,
      description: `Asks the user for access to "${server}". Its tools are there as soon as they have given it.`,
      run: async (_args, ctx) => ((await this.#source?.get(ctx)) ? { granted: true } : pendingCredential),
    });
  }

  async #headers(ctx: ReadonlyContext, credential?: AuthCredential): Promise<Headers> {
    const { connection, headers: provider } = this.#options;
    const fixed =
      'sse' in connection
        ? connection.sse.headers
        : 'streamableHttp' in connection
          ? connection.streamableHttp.headers
          : undefined;
    const added = credential && this.#source && credentialAdditions(this.#source.config.authScheme, credential).headers;
    const own = provider ? await this.#provided(ctx, provider) : undefined;
    const all = [fixed, own, added].flatMap((headers) => Object.entries(headers ?? {}));
    return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]));
  }

  async #provided(ctx: ReadonlyContext, provider: NonNullable<McpOptions['headers']>): Promise<Headers> {
    const fail = (why: string, cause?: unknown): AppError =>
      new AppError('McpToolsetException', `The headers for the MCP server "${this.#options.name}" ${why}`, { cause });
    let given: Headers;
    try {
      given = await provider(ctx);
    } catch (error) {
      ctx.signal.throwIfAborted();
      throw fail(`could not be computed: ${errorText(error)}`, error);
    }
    const checked = headerMap().safeParse(given);
    if (checked.success) return checked.data;
    throw fail(`cannot be sent: ${checked.error.issues.map(({ message }) => message).join('; ')}`);
  }
}

const isUnauthorized = (error: unknown): boolean =>
  error instanceof AppError && / HTTP status 401 /.test(error.message);
