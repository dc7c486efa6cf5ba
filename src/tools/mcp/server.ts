import type { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ReadonlyContext, Tool, ToolContext } from '../../core/runtime.ts';
import { AwaitingUser, type McpAccess } from './access.ts';
import { type CallEnvironment, callServer } from './call.ts';
import { type McpOptions, usableName } from './connection/options.ts';
import { SessionPool, type PooledSession } from './connection/pool.ts';
import type { ListKind, McpSession, RequestLimit } from './connection/session.ts';
import { McpLists } from './lists.ts';
import { mediaTool } from './media.ts';
import { McpPrompt, promptTool } from './prompts.ts';
import { McpResource, resourceTool } from './resources.ts';
import { toolResponse } from './result.ts';
import { serverTools } from './server-tools.ts';

/** Numbers the servers, for unique names of their hidden tools. */
let servers = 0;

/** One MCP server: its sessions, and the tools made from its lists. */
export class McpServer {
  readonly #options: McpOptions;
  readonly #pool: SessionPool;
  readonly #lists: McpLists;
  readonly #access: McpAccess;
  readonly #callEnvironment: CallEnvironment;
  readonly #prefix: string;
  readonly #mediaName: string;
  /** Names of this server's tools in model requests. */
  readonly #names = new Set<string>();
  /** The tools made from a list, so that the runtime sees the same objects until the server changes them. */
  readonly #toolsByList = new WeakMap<readonly unknown[], readonly Tool[]>();

  constructor(options: McpOptions, access: McpAccess) {
    this.#options = options;
    this.#pool = new SessionPool(options);
    this.#lists = new McpLists(options, this.#pool);
    this.#access = access;
    this.#callEnvironment = { options, pool: this.#pool, access };
    this.#prefix = options.namePrefix ? `${options.namePrefix}_` : '';
    servers += 1;
    this.#mediaName = `mcp_media_${servers}`;
  }

  /** The server's tools, before filter and prefix. */
  async tools(ctx: ReadonlyContext): Promise<readonly Tool[]> {
    const pooled = await this.#sessionFor(ctx);
    if (!pooled) return [this.#access.grantTool('request_access')];
    const listed = await this.#lists.get(pooled, 'tools', ctx);
    const call = this.#call.bind(this);
    return this.#cached(listed, () => serverTools(listed, { options: this.#options, call, log: ctx.log }));
  }

  /** The tools for resources and prompts, and the hidden media tool. A list that fails affects its own tool only. */
  async extraTools(ctx: ReadonlyContext): Promise<readonly Tool[]> {
    const { resources, prompts } = this.#options;
    const media = mediaTool(ctx, this.#mediaName, (tool) => this.#names.has(tool));
    const tools = media ? [media] : [];
    const pooled = resources || prompts ? await this.#sessionFor(ctx) : undefined;
    if (!pooled) return tools;
    if (resources) {
      const name = `${this.#prefix}load_mcp_resource`;
      const make = (listed: readonly unknown[]): Tool =>
        resourceTool(name, parsed(listed, McpResource), this.#callEnvironment);
      tools.push(...(await this.#extraTool(pooled, ctx, 'resources', make)));
    }
    if (prompts) {
      const name = `${this.#prefix}load_mcp_prompt`;
      const make = (listed: readonly unknown[]): Tool =>
        promptTool(name, parsed(listed, McpPrompt), this.#callEnvironment);
      tools.push(...(await this.#extraTool(pooled, ctx, 'prompts', make)));
    }
    return tools;
  }

  async resources(ctx: ReadonlyContext): Promise<readonly McpResource[]> {
    return parsed(await this.#lists.get(await this.#requiredSession(ctx), 'resources', ctx), McpResource);
  }

  async prompts(ctx: ReadonlyContext): Promise<readonly McpPrompt[]> {
    return parsed(await this.#lists.get(await this.#requiredSession(ctx), 'prompts', ctx), McpPrompt);
  }

  /** Makes a request outside a tool call; the server's own requests cannot be answered then. */
  async request<T>(ctx: ReadonlyContext, work: (session: McpSession, limit: RequestLimit) => Promise<T>): Promise<T> {
    const { signal } = ctx;
    const limit = { signal, ms: this.#options.timeouts.callMs };
    return this.#pool.use(await this.#requiredSession(ctx), { signal }, (session) => work(session, limit));
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #sessionFor(ctx: ReadonlyContext): Promise<PooledSession | undefined> {
    const headers = await this.#access.forListing(ctx);
    return headers && this.#pool.sessionFor(headers);
  }

  async #requiredSession(ctx: ReadonlyContext): Promise<PooledSession> {
    const pooled = await this.#sessionFor(ctx);
    if (pooled) return pooled;
    throw new AppError('unauthenticated', `The user has not given access to the MCP server "${this.#options.name}"`);
  }

  async #extraTool(
    pooled: PooledSession,
    ctx: ReadonlyContext,
    kind: ListKind,
    make: (listed: readonly unknown[]) => Tool,
  ): Promise<readonly Tool[]> {
    try {
      const listed = await this.#lists.get(pooled, kind, ctx);
      return listed.length === 0 ? [] : this.#cached(listed, () => [make(listed)], '');
    } catch (error) {
      ctx.signal.throwIfAborted();
      ctx.log?.warn({ server: this.#options.name, err: error }, `an MCP server does not list its ${kind}`);
      return [];
    }
  }

  #cached(listed: readonly unknown[], make: () => readonly Tool[], prefix = this.#prefix): readonly Tool[] {
    const known = this.#toolsByList.get(listed);
    if (known) return known;
    const tools = make();
    this.#toolsByList.set(listed, tools);
    for (const { name } of tools) this.#names.add(`${prefix}${name}`);
    return tools;
  }

  async #call(tool: string, args: JsonObject, ctx: ToolContext): Promise<JsonObject> {
    const result = await callServer(this.#callEnvironment, ctx, (session, limit) =>
      session.callTool(tool, args, limit),
    );
    return result instanceof AwaitingUser ? result.response : toolResponse(result, usableName(tool), ctx);
  }
}

/** The valid items. */
function parsed<Schema extends z.ZodType>(listed: readonly unknown[], schema: Schema): z.output<Schema>[] {
  return listed.flatMap((item) => {
    const result = schema.safeParse(item);
    return result.success ? [result.data] : [];
  });
}
