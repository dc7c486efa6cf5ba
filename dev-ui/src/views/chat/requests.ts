import type { FunctionCall } from '../../../../src/schemas/content.ts';
import { runWithArguments } from '../../app/branching.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { CallRow, RequestRow } from '../../log/rows.ts';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The call that waits for a confirmation. */
export function originalCall({ call }: RequestRow): FunctionCall {
  const original = call.args?.['originalFunctionCall'];
  const { id, name, args } = isObject(original) ? original : {};
  if (typeof name !== 'string') return { name: 'a tool' };
  return { name, ...(typeof id === 'string' && { id }), ...(isObject(args) && { args }) };
}

/** The question of a request, in words for people. */
export function question(row: RequestRow): string {
  const args = row.call.args ?? {};
  if (row.request === 'credential') return `${row.event.author} needs you to sign in`;
  if (row.request === 'confirmation') {
    const { hint } = (args['toolConfirmation'] ?? {}) as { hint?: unknown };
    // The protocol's own hint tells programs how to answer; people have buttons.
    const words = typeof hint === 'string' && hint !== '' && !hint.includes('FunctionResponse') ? hint : undefined;
    return words ?? `Allow ${row.event.author} to call ${originalCall(row).name}?`;
  }
  const message = args['message'] ?? args['prompt'];
  return typeof message === 'string' && message !== '' ? message : `${row.event.author} asks for input`;
}

/** Sends the answer to a request, which resumes the run. */
export function answerRequest(
  workspace: Workspace,
  { call, event }: RequestRow,
  response: Record<string, unknown>,
): void {
  const functionResponse = { name: call.name, response, ...(call.id !== undefined && { id: call.id }) };
  // Failures show as the state of the run.
  void workspace.send({ role: 'user', parts: [{ functionResponse }] }, { functionCallEventId: event.id });
}

/**
 * Approves a call with other arguments than it was made with. A confirmation is valid for the call as the model made
 * it, so the call is made again in a fork, and the request of that call is approved. The session itself keeps waiting.
 */
export async function approveWith(workspace: Workspace, row: RequestRow, args: Record<string, unknown>): Promise<void> {
  const { id = '', name } = originalCall(row);
  const positions = workspace.log.byTool.get(name) ?? [];
  const calling = positions
    .map((position) => workspace.log.events[position])
    .find((event) => event?.content?.parts.some(({ functionCall }) => functionCall?.id === id));
  const fork = calling && (await runWithArguments(workspace, calling, { id, name, args }));
  const asked = [...(fork?.log.pending.values() ?? [])].find((pending) => isAbout(pending, id));
  if (fork && asked) answerRequest(fork, asked, { confirmed: true });
}

const isAbout = (pending: RequestRow | CallRow, id: string): pending is RequestRow =>
  pending.kind === 'request' && originalCall(pending).id === id;
