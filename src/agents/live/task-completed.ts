import type { RunContext, Tool } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { taskCompletedName } from '../reserved-names.ts';
import { indexTree } from '../tree.ts';

/** How an agent of a sequence says, in a conversation that has no end of its own, that it is the next one's turn. */
export const taskCompleted: Tool = {
  kind: 'tool',
  name: taskCompletedName,
  description: 'Says that your task is done, so that the next agent can begin.',
  declaration: {
    name: taskCompletedName,
    description: 'Says that your task is done, so that the next agent can begin.',
  },
  run: () => ({ result: 'The task is done.' }),
};

export const taskCompletedText = `When you have done what is asked of you, call \`${taskCompletedName}\` to let the next agent begin. Write nothing besides that call.`;

/** Whether the context's agent is a step of a sequence. */
export const isSequenceStep = (ctx: RunContext): boolean =>
  indexTree(ctx.app.rootAgent).parentOf(ctx.agent)?.kind === 'sequential';

/** Whether this is the answer to an agent that said its task is done. */
export function isTaskCompleted({ content }: Event): boolean {
  for (const { functionResponse } of content?.parts ?? []) {
    if (functionResponse?.name === taskCompletedName && functionResponse.response['error'] === undefined) return true;
  }
  return false;
}

/** Whether another agent has left the word to this one in the same run, so that it should begin by itself. */
export function wasHandedOver({ agent, invocationId, session }: RunContext): boolean {
  const last = session.events.findLast((event) => event.author !== 'user' && event.content !== undefined);
  if (last?.invocationId !== invocationId || last.author === agent.name) return false;
  return last.actions.transferToAgent === agent.name || isTaskCompleted(last);
}
