import { type Content, type FunctionCall, textOf } from '../../schemas/content.ts';
import { type Invocation, toolCallsOf, toolResponsesOf } from '../../schemas/evaluation/eval-set.ts';

const shownLength = 200;

/** The text of the agent's final response; with `intermediate`, its earlier texts, too. */
export function answerOf({ finalResponse, intermediateData }: Invocation, intermediate = false): string {
  if (!intermediate) return textOf(finalResponse, '\n');
  const events = (intermediateData?.invocationEvents ?? []).map(({ content }) => textOf(content, '\n'));
  const texts = (intermediateData?.intermediateResponses ?? []).map(([, parts]) => textOf({ parts }, '\n'));
  return [...events, ...texts, textOf(finalResponse, '\n')].filter((text) => text !== '').join('\n');
}

export const questionOf = ({ userContent }: Invocation): string =>
  textOf(userContent, '\n') || contentText(userContent);

/** A message as text for a judge: its text, and its other parts as JSON. */
export function contentText(content: Content | undefined): string {
  const parts = (content?.parts ?? []).filter((part) => !part.thought);
  return parts.map((part) => part.text ?? JSON.stringify(part)).join('\n');
}

/** `name({"city":"Paris"})` */
export const callText = ({ name, args = {} }: FunctionCall): string => `${name}(${JSON.stringify(args)})`;

/** The steps of a turn as text for a judge: tool calls and their responses. */
export function stepsText({ intermediateData }: Invocation): string {
  const calls = toolCallsOf(intermediateData).map((call) => `call: ${callText(call)}`);
  const answers = toolResponsesOf(intermediateData).map(
    ({ name, response }) => `answer of ${name}: ${JSON.stringify(response)}`,
  );
  return [...calls, ...answers].join('\n') || 'none';
}

/** A text in quotes, truncated if long. */
export function quoted(text: string): string {
  return text === '' ? 'nothing' : JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);
}
