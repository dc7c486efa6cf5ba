import { errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import type { MaybePromise, Tool, ToolContext } from '../../core/runtime.ts';
import type { CredentialSource } from '../auth/credential-source.ts';
import { pendingCredential } from '../authenticated-tool.ts';
import { functionTool } from '../function-tool.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { DocumentOperation } from './document.ts';
import { argumentsSchema, type OperationInput } from './parameters.ts';
import { operationRequest } from './request.ts';
import { operationResult } from './response.ts';
import { additionsFrom } from './security.ts';

export interface OperationSetting {
  readonly name: string;
  readonly operation: DocumentOperation;
  readonly input: OperationInput;
  readonly server: string;
  readonly sources: readonly CredentialSource[];
  readonly headers: (ctx: ToolContext) => MaybePromise<Readonly<Record<string, string>>>;
  readonly timeoutMs: number;
  readonly outbound: OutboundFetch;
}

/** The tool of one operation. Failures of the service become the response `{ error }`; it only throws when aborted. */
export function operationTool(setting: OperationSetting): Tool {
  const { name, operation, input } = setting;
  const parameters = argumentsSchema(input.parameters);
  const texts = [operation.summary, operation.description].filter((text) => text !== undefined && text !== '');
  const tool = functionTool({
    name,
    description: [...new Set(texts)].join('\n') || `${operation.method} ${operation.path}`,
    ...(parameters && { parameters }),
    run: (args, ctx) => call(setting, args, ctx),
  });
  return { ...tool, run: (args, ctx) => tool.run?.(renamed(args, input), ctx) };
}

/** The result of one request; without a status, no request was made. */
interface Outcome {
  readonly status?: number;
  readonly result: unknown;
}

async function call(setting: OperationSetting, args: JsonObject, ctx: ToolContext): Promise<unknown> {
  const { sources } = setting;
  const first = await attempt(setting, args, ctx);
  if (first.status !== 401 || sources.length === 0) return first.result;
  // The token may have been revoked: repeat the request with a new one.
  for (const source of sources) await source.invalidate(ctx);
  const second = await attempt(setting, args, ctx);
  return second.status === 401 ? first.result : second.result;
}

async function attempt(setting: OperationSetting, args: JsonObject, ctx: ToolContext): Promise<Outcome> {
  const { operation, input, server, sources, timeoutMs, outbound } = setting;
  const { method, path } = operation;
  try {
    const additions = await additionsFrom(sources, ctx);
    if (!additions) return { result: pendingCredential };
    const headers = { ...(await setting.headers(ctx)), ...additions.headers };
    const { url, ...init } = operationRequest({ method, server, path }, input, args, { ...additions, headers });
    return await withTimeLimit({ signal: ctx.signal, ms: timeoutMs, what: url.host }, async (signal) => {
      const response = await outbound(url, { ...init, signal });
      return { status: response.status, result: await operationResult(response) };
    });
  } catch (error) {
    ctx.signal.throwIfAborted();
    return { result: { error: causeText(error) } };
  }
}

/** The reason of a failure: fetch has it in the `cause` of "fetch failed". */
function causeText(error: unknown): string {
  if (!(error instanceof Error) || error.cause === undefined || !(error instanceof TypeError)) return errorText(error);
  const { cause } = error;
  return `The service could not be reached (${cause instanceof Error && 'code' in cause ? String(cause.code) : errorText(cause)})`;
}

/** Renames arguments: models that know the service sometimes use its own names. */
function renamed(args: JsonObject, { parameters }: OperationInput): JsonObject {
  const declared = new Set(parameters.map(({ argument }) => argument));
  const byName = new Map(parameters.map(({ name, argument }) => [name, argument]));
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [declared.has(key) ? key : (byName.get(key) ?? key), value]),
  );
}
