import { z } from 'zod';
import { delay } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { limitedExec } from '../../base/limited-regexp.ts';
import {
  type Model,
  ModelError,
  type ModelErrorCategory,
  type ModelRequest,
  type ModelResponse,
} from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import { type ScriptRule, scriptSchema } from '../../schemas/script.ts';
import { categoryOfCode } from '../model-errors.ts';
import { answerOf, estimateUsage, newestAnswers, userText } from './script-request.ts';
import { objectTemplate, type TemplateValues, type TextTemplate, textTemplate } from './script-template.ts';

/** A compiled rule: a call only fills in values. */
interface Reply {
  readonly match: RegExp | undefined;
  readonly after: readonly string[] | undefined;
  readonly thought: TextTemplate | undefined;
  readonly chunks: readonly TextTemplate[] | undefined;
  readonly text: TextTemplate | undefined;
  readonly calls: readonly Call[];
  readonly delayMs: number;
  readonly error: Failure | undefined;
}

interface Call {
  readonly name: string;
  readonly id: string | undefined;
  readonly args: (values: TemplateValues) => JsonObject;
}

interface Failure {
  readonly code: string;
  readonly message: TextTemplate;
  /** Set: the model throws. */
  readonly category: ModelErrorCategory | undefined;
}

const NO_GROUPS: readonly string[] = [];

/**
 * A model that answers from a script: equal requests get equal responses, and it has no state. Throws
 * ConfigurationException for an invalid script.
 */
export function scriptedModel(script: readonly ScriptRule[], name = 'scripted'): Model {
  const parsed = scriptSchema().safeParse(script);
  if (!parsed.success) {
    throw new AppError('ConfigurationException', `Invalid script: ${z.prettifyError(parsed.error)}`);
  }
  const replies = parsed.data.map(replyOf);
  return { name, generate: (request, signal) => answer(replies, request, signal) };
}

function replyOf(rule: ScriptRule): Reply {
  const { error } = rule;
  return {
    match: rule.match === undefined ? undefined : new RegExp(rule.match, 'i'),
    after: rule.after === undefined ? undefined : [rule.after].flat(),
    thought: rule.thought === undefined ? undefined : textTemplate(rule.thought),
    chunks: rule.chunks?.map(textTemplate),
    text: rule.text === undefined ? undefined : textTemplate(rule.text),
    calls: (rule.calls ?? []).map(({ name, id, args }) => ({ name, id, args: objectTemplate(args ?? {}) })),
    delayMs: rule.delayMs ?? 0,
    error: error && {
      code: error.code,
      message: textTemplate(error.message ?? ''),
      category: error.throw ? (error.category ?? categoryOfCode(error.code)) : undefined,
    },
  };
}

interface Fit {
  readonly reply: Reply;
  readonly groups: readonly (string | undefined)[];
}

function findFit(replies: readonly Reply[], request: ModelRequest): Fit | undefined {
  const answers = newestAnswers(request);
  let text: string | undefined;
  for (const reply of replies) {
    if (answers ? !reply.after?.every((tool) => answers.has(tool)) : reply.after) continue;
    if (!reply.match) return { reply, groups: NO_GROUPS };
    text ??= userText(request);
    const groups = limitedExec(reply.match, text);
    if (groups) return { reply, groups };
  }
  const catchAll = answers && replies.find((reply) => !reply.match && !reply.after);
  return catchAll && { reply: catchAll, groups: NO_GROUPS };
}

async function* answer(
  replies: readonly Reply[],
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelResponse, void, void> {
  signal.throwIfAborted();
  const fit = findFit(replies, request);
  if (!fit) {
    yield { errorCode: 'SCRIPT_NO_MATCH', errorMessage: 'No rule of the script fits this request' };
    return;
  }
  const { reply, groups } = fit;
  const values: TemplateValues = { groups, answerOf: (tool) => answerOf(request, tool) };
  const thought = reply.thought?.(values);
  if (request.stream && reply.chunks) {
    if (thought !== undefined) yield partial({ text: thought, thought: true });
    for (const chunk of reply.chunks) {
      if (reply.delayMs > 0) await delay(reply.delayMs, signal);
      else signal.throwIfAborted();
      yield partial({ text: chunk(values) });
    }
  } else if (reply.delayMs > 0) await delay(reply.delayMs, signal);
  if (reply.error) yield failed(reply.error, reply.error.message(values));
  else yield whole(reply, values, request);
}

const partial = (part: Part): ModelResponse => ({ content: { role: 'model', parts: [part] }, partial: true });

function failed({ code, category }: Failure, message: string): ModelResponse {
  if (category) throw new ModelError(category, message || code, { providerCode: code });
  return { errorCode: code, errorMessage: message };
}

function whole(reply: Reply, values: TemplateValues, request: ModelRequest): ModelResponse {
  const parts: Part[] = [];
  if (reply.thought) parts.push({ text: reply.thought(values), thought: true });
  if (reply.text) parts.push({ text: reply.text(values) });
  if (reply.chunks) parts.push({ text: reply.chunks.map((chunk) => chunk(values)).join('') });
  for (const { name, id, args } of reply.calls) {
    const given = typedArgs(args(values), name, request);
    parts.push({ functionCall: id === undefined ? { name, args: given } : { id, name, args: given } });
  }
  const content = { role: 'model', parts };
  return { content, finishReason: 'STOP', usageMetadata: estimateUsage(request, content) };
}

/** Converts arguments to the number or boolean that the tool declares: the groups of a regular expression are texts. */
function typedArgs(args: JsonObject, tool: string, request: ModelRequest): JsonObject {
  const declared = request.config.tools
    ?.flatMap((entry) => entry.functionDeclarations ?? [])
    .find((declaration) => declaration.name === tool)?.parameters?.['properties'] as
    | Record<string, { type?: unknown } | undefined>
    | undefined;
  if (!declared) return args;
  for (const [key, value] of Object.entries(args)) {
    if (typeof value !== 'string' || value === '' || !Object.hasOwn(declared, key)) continue;
    const type = declared[key]?.type;
    if ((type === 'number' || type === 'integer') && Number.isFinite(Number(value))) args[key] = Number(value);
    else if (type === 'boolean' && /^(?:true|false)$/i.test(value)) args[key] = value.toLowerCase() === 'true';
  }
  return args;
}
