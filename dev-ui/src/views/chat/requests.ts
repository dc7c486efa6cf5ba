import type { FunctionCall } from '../../../../src/schemas/content.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { RequestRow } from '../../log/rows.ts';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The call that waits for its confirmation. */
export function originalCall({ call }: RequestRow): FunctionCall {
  const original = call.args?.['originalFunctionCall'];
  if (!isObject(original) || typeof original['name'] !== 'string') return { name: 'a tool' };
  return { name: original['name'], ...(isObject(original['args']) && { args: original['args'] }) };
}

/** What is asked, in words for people. */
export function question(row: RequestRow): string {
  const args = row.call.args ?? {};
  if (row.request === 'credential') return `${row.event.author} needs a sign-in`;
  if (row.request === 'confirmation') {
    const { hint } = (args['toolConfirmation'] ?? {}) as { hint?: unknown };
    // The protocol's own hint tells programs how to answer; people have buttons.
    const words = typeof hint === 'string' && hint !== '' && !hint.includes('FunctionResponse') ? hint : undefined;
    return words ?? `May ${row.event.author} call ${originalCall(row).name}?`;
  }
  const message = args['message'] ?? args['prompt'];
  return typeof message === 'string' && message !== '' ? message : `${row.event.author} asks for input`;
}

/** Sends the answer to a request; the run goes on with it. */
export function answerRequest(
  workspace: Workspace,
  { call, event }: RequestRow,
  response: Record<string, unknown>,
): void {
  const functionResponse = { name: call.name, response, ...(call.id !== undefined && { id: call.id }) };
  // Failures show as the state of the run.
  void workspace.send({ role: 'user', parts: [{ functionResponse }] }, { functionCallEventId: event.id });
}
