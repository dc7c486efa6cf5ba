import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, toJson } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { compileJsonSchema } from '../json-schema-check.ts';
import type { RequestHandler } from './connection/active-calls.ts';
import type { McpOptions } from './connection/options.ts';
import { askAgentModel, samplingTexts } from './sampling.ts';
import { type UserAnswer, answersFor, isSameQuestion } from './user-answers.ts';

/** Sampling requests per call: each costs money. */
const maxSamplings = 10;

/**
 * Answers a server's requests during one call. A request without the user's answer becomes a confirmation request and
 * ends the call. When the user answers, the call runs again, and the same requests get their answers.
 */
export class ServerRequests implements RequestHandler {
  readonly #options: McpOptions;
  readonly #ctx: ToolContext;
  readonly #onWait: () => void;
  #answers: UserAnswer[] | undefined;
  #samplings = 0;
  #isWaiting = false;

  /** `onWait` is called when the user has to answer: the caller can abort the call. */
  constructor(options: McpOptions, ctx: ToolContext, onWait: () => void) {
    this.#options = options;
    this.#ctx = ctx;
    this.#onWait = onWait;
  }

  /** Whether the user has to answer first: the result of the call is then ignored. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  async elicit(params: ElicitRequestParams): Promise<ElicitResult> {
    const { message } = params;
    if (params.mode === 'url') {
      const hasVisited = this.askToVisit(message, params.url);
      return { action: hasVisited === undefined ? 'cancel' : hasVisited ? 'accept' : 'decline' };
    }
    const question = this.#question({ kind: 'elicitation', message, requestedSchema: params.requestedSchema });
    const check = await compileJsonSchema(question['requestedSchema'] as JsonObject);
    let problems: readonly string[] = [];
    for (let answer = this.#take(question); answer; answer = this.#take(question)) {
      if (!answer.confirmed) return { action: 'decline' };
      const content = contentOf(answer.payload);
      problems = check(content);
      if (problems.length === 0) return { action: 'accept', content: content as ElicitResult['content'] };
    }
    const content = {};
    check(content);
    const hint = problems.length > 0 ? `${message}\nThe last answer does not fit: ${problems.join('; ')}` : message;
    this.#ask(hint, { ...question, content });
    return { action: 'cancel' };
  }

  /** Whether the user visited a page. `undefined`: the user has not answered yet, and is now asked. */
  askToVisit(message: string, url: string): boolean | undefined {
    const question = this.#question({ kind: 'elicitation', message, url });
    const answer = this.#take(question);
    if (answer) return answer.confirmed;
    this.#ask(`${message}\nOpen ${url}, and confirm when you are done.`, question);
    return undefined;
  }

  async sample(params: CreateMessageRequestParams): Promise<CreateMessageResult> {
    if (this.#options.sampling === 'confirm') this.#requireConsent(params);
    this.#samplings += 1;
    if (this.#samplings > maxSamplings) throw new Error(`A call may use the model ${maxSamplings} times`);
    return askAgentModel(params, this.#ctx);
  }

  /** Throws unless the user has allowed sampling. Their answer is valid for the whole call. */
  #requireConsent(params: CreateMessageRequestParams): void {
    const verdict = this.#known().findLast(({ question }) => question['kind'] === 'sampling');
    if (verdict?.confirmed) return;
    if (verdict) throw new Error('The user does not want the model to be used');
    const { name } = this.#options;
    const hint = `The MCP server "${name}" wants to use the agent's model to go on. Do you agree?`;
    this.#ask(hint, this.#question({ kind: 'sampling', ...samplingTexts(params) }));
    throw new Error('The user is being asked whether the model may be used');
  }

  #question(fields: JsonObject): JsonObject {
    return toJson({ server: this.#options.name, ...fields }) as JsonObject;
  }

  #known(): UserAnswer[] {
    return (this.#answers ??= answersFor(this.#ctx));
  }

  /** The next unused answer to this request: a server may send the same request twice. */
  #take(question: JsonObject): UserAnswer | undefined {
    const known = this.#known();
    const at = known.findIndex((answer) => isSameQuestion(question, answer.question));
    return at < 0 ? undefined : known.splice(at, 1)[0];
  }

  #ask(hint: string, payload: JsonObject): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#ctx.requestConfirmation({ hint, payload });
    // The server gets its response first.
    setImmediate(this.#onWait);
  }
}

/** The form that the user filled in: under `content`, or the payload itself. A copy, because defaults are added. */
function contentOf(payload: unknown): JsonObject {
  if (!isJsonObject(payload)) return {};
  const { content } = payload;
  return structuredClone(isJsonObject(content) ? content : payload);
}
