import { type Content, textOf } from '../../schemas/content.ts';

/** An example: a user's message and the model's answer, possibly in several messages with tool calls. */
export interface Example {
  readonly input: string | Content;
  readonly output: string | readonly Content[];
}

/** The examples as a section of an instruction; empty without examples. */
export function examplesText(examples: readonly Example[]): string {
  if (examples.length === 0) return '';
  const samples = examples.map(({ input, output }, index) => {
    const answer = typeof output === 'string' ? [`model: ${output}`] : output.flatMap(linesOf);
    return [
      `<sample number="${index + 1}">`,
      `user: ${typeof input === 'string' ? input : textOf(input, '\n')}`,
      ...answer,
      '</sample>',
    ];
  });
  return ['These samples show how to answer and when to call which function:', ...samples.flat()].join('\n');
}

function linesOf({ role = 'model', parts }: Content): string[] {
  return parts.flatMap(({ text, functionCall, functionResponse }) => {
    if (text !== undefined) return [`${role}: ${text}`];
    if (functionCall) return [`model calls ${functionCall.name} with ${JSON.stringify(functionCall.args ?? {})}`];
    if (functionResponse) return [`${functionResponse.name} answers ${JSON.stringify(functionResponse.response)}`];
    return [];
  });
}
