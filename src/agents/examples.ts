import { type Content, textOf } from '../schemas/content.ts';

/** A sample exchange: what the user says, and what the model answers, possibly over several messages. */
export interface Example {
  readonly input: string | Content;
  readonly output: string | readonly Content[];
}

/** The samples as text for the instruction; empty when there are none. */
export function examplesText(examples: readonly Example[]): string {
  if (examples.length === 0) return '';
  const samples = examples.map((example, index) => `Sample ${index + 1}\n${linesOf(example).join('\n')}`);
  return [
    'Samples of how to answer follow. Keep to their style and to the way they use functions.',
    '<samples>',
    ...samples,
    '</samples>',
  ].join('\n');
}

function linesOf({ input, output }: Example): string[] {
  const answers = typeof output === 'string' ? [`model: ${output}`] : output.flatMap(linesOfContent);
  return [`user: ${typeof input === 'string' ? input : textOf(input, '\n')}`, ...answers];
}

function linesOfContent({ role = 'model', parts }: Content): string[] {
  return parts.flatMap(({ text, functionCall, functionResponse }) => {
    if (text !== undefined) return [`${role}: ${text}`];
    if (functionCall) return [`model calls ${functionCall.name}(${JSON.stringify(functionCall.args ?? {})})`];
    if (functionResponse) return [`${functionResponse.name} returns ${JSON.stringify(functionResponse.response)}`];
    return [];
  });
}
