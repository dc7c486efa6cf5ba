import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, toJson } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { compileJsonSchema } from '../json-schema-check.ts';
import type { RequestHandler } from './active-calls.ts';
import type { McpOptions } from './options.ts';
import { askAgentModel, samplingTexts } from './sampling.ts';
import { type UserAnswer, answersFor, isSameQuestion } from './user-answers.ts';

/** Uses of the model that one call may make of it: each costs money. */
const maxSamplings = 10;

/**
 * Answers a server's questions about one call. A question the user has not answered yet becomes a request for their
 * confirmation and ends the call; with the answer it runs again, and meets the same questions, answered.
 */
export class ServerRequests implements RequestHandler {
  readonly #options: McpOptions;
  readonly #ctx: ToolContext;
  readonly #onWait: () => void;
  #answers: UserAnswer[] | undefined;
  #samplings = 0;
  #isWaiting = false;

  /** `onWait` is called when there is a question for the user: the call can be given up. */
  constructor(options: McpOptions, ctx: ToolContext, onWait: () => void) {
    this.#options = options;
    this.#ctx = ctx;
    this.#onWait = onWait;
  }

  /** The user has been asked something: whatever the call comes to does not count. */
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

  /** Whether the user has been to a page; `undefined` once they have been asked to go there. */
  askToVisit(message: string, url: string): boolean | undefined {
    const question = this.#question({ kind: 'elicitation', message, url });
    const answer = this.#take(question);
    if (answer) return answer.confirmed;
    this.#ask(`${message}\nOpen ${url}, and confirm when you are done.`, question);
    return undefined;
  }

  async sample(params: CreateMessageRequestParams): Promise<CreateMessageResult> {
    if (this.#options.sampling === 'confirm') this.#mustAgree(params);
    this.#samplings += 1;
    if (this.#samplings > maxSamplings) throw new Error(`A call may use the model ${maxSamplings} times`);
    return askAgentModel(params, this.#ctx);
  }

  /** What the user allows or forbids holds for the whole call. Throws unless they have allowed it. */
  #mustAgree(params: CreateMessageRequestParams): void {
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

  /** The next answer to this question. A server may ask the same thing twice. */
  #take(question: JsonObject): UserAnswer | undefined {
    const known = this.#known();
    const at = known.findIndex((answer) => isSameQuestion(question, answer.question));
    return at < 0 ? undefined : known.splice(at, 1)[0];
  }

  #ask(hint: string, payload: JsonObject): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#ctx.requestConfirmation({ hint, payload });
    // The server gets its answer first.
    setImmediate(this.#onWait);
  }
}

/** What the user filled in: under `content`, as they were shown it, or by itself. A copy, for defaults are added. */
function contentOf(payload: unknown): JsonObject {
  if (!isJsonObject(payload)) return {};
  const { content } = payload;
  return structuredClone(isJsonObject(content) ? content : payload);
}
