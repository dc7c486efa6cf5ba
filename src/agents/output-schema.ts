import { AppError } from '../base/errors.ts';
import { define, isJsonObject, type JsonObject } from '../base/json.ts';
import { newEvent } from '../core/events/new-event.ts';
import type { GenerateConfig } from '../core/model.ts';
import type { RunContext, Tool } from '../core/runtime.ts';
import { type Content, textContent, textOf } from '../schemas/content.ts';
import type { Event } from '../schemas/event.ts';
import type { Checked, ValueSchema } from '../tools/value-schema.ts';
import { answerToolName } from './reserved-names.ts';

/** Models that accept a response schema or functions, not both. */
const schemaOrFunctions = /(?:^|\/)gemini-[12]\b/;

/** Whether the answer has to come through a tool, because the model does not accept a response schema beside tools. */
export const needsAnswerTool = (model: string, hasTools: boolean): boolean => hasTools && schemaOrFunctions.test(model);

export function setResponseSchema(config: GenerateConfig, schema: ValueSchema<unknown>): void {
  config.responseSchema = schema.json;
  config.responseMimeType = 'application/json';
}

export const answerToolText = `When you have everything you need, give your final answer by calling \`${answerToolName}\` with it, and not as text. Use the other tools first if they help.`;

/** The arguments of a function are an object, so any other answer goes under one key. */
const wrapKey = 'result';

/** The tool through which the model gives its final answer as data. An answer that does not fit gets the problems as an error. */
export function answerTool(schema: ValueSchema<unknown>): Tool {
  const isObject = schema.json['type'] === 'object' || isJsonObject(schema.json['properties']);
  const parameters: JsonObject = isObject
    ? schema.json
    : { type: 'object', properties: { [wrapKey]: schema.json }, required: [wrapKey] };
  const description = 'Gives the final answer to the user, as data.';
  return {
    kind: 'tool',
    name: answerToolName,
    description,
    declaration: { name: answerToolName, description, parameters },
    async run(args, ctx) {
      const checked = await schema.check(isObject ? args : args[wrapKey]);
      if (!checked.ok) throw new AppError('invalid_request', `The answer does not fit: ${checked.problems.join('; ')}`);
      ctx.actions.setModelResponse = checked.value;
      return checked.value;
    },
  };
}

/** The event that shows the user an answer given through the tool: as text, like any other answer. */
export function finalAnswerEvent(value: unknown, outputKey: string | undefined, ctx: RunContext): Event {
  const event = newEvent(ctx, ctx.agent.name, { content: textContent('model', JSON.stringify(value)) });
  if (outputKey !== undefined) define(event.actions.stateDelta, outputKey, value);
  return event;
}

/**
 * The value that the state gets under `outputKey`: the text of the answer, or with a schema its parsed value. A text
 * that does not fit the schema is stored unchanged. `undefined` when the answer has no text.
 */
export async function outputOf(
  content: Content | undefined,
  schema: ValueSchema<unknown> | undefined,
  ctx: RunContext,
): Promise<unknown> {
  if (!content?.parts.some(({ text, thought }) => text !== undefined && !thought)) return undefined;
  const text = textOf(content);
  if (!schema) return text;
  if (text.trim() === '') return undefined;
  const checked = await checkText(text, schema);
  if (checked.ok) return checked.value;
  ctx.log?.warn({ agent: ctx.agent.name, problems: checked.problems }, 'an answer does not fit its output schema');
  return text;
}

/** The value in a JSON text, checked. */
export async function checkText(text: string, schema: ValueSchema<unknown>): Promise<Checked<unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(text));
  } catch {
    return { ok: false, problems: ['it is not JSON'] };
  }
  return schema.check(value);
}

/** Models often put JSON into a code block. */
function withoutFence(text: string): string {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return fenced?.[1] ?? text;
}
