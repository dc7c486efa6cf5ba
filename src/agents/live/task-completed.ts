import type { RunContext, Tool } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { taskCompletedName } from '../reserved-names.ts';
import { indexTree } from '../tree.ts';

/** The tool by which an agent of a sequence ends its live conversation and starts the next agent. */
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

/** Whether the event holds the response of a successful `task_completed` call. */
export function isTaskCompleted({ content }: Event): boolean {
  for (const { functionResponse } of content?.parts ?? []) {
    if (functionResponse?.name === taskCompletedName && functionResponse.response['error'] === undefined) return true;
  }
  return false;
}

/** Whether another agent of this run transferred to this one or completed its task, so that this one starts unasked. */
export function wasHandedOver({ agent, invocationId, session }: RunContext): boolean {
  const last = session.events.findLast((event) => event.author !== 'user' && event.content !== undefined);
  if (last?.invocationId !== invocationId || last.author === agent.name) return false;
  return last.actions.transferToAgent === agent.name || isTaskCompleted(last);
}
