import type { Event } from '../../../../src/schemas/event.ts';
import type { SessionKey } from '../../../../src/schemas/session.ts';
import { forkSession } from '../../api/extensions.ts';
import { cancelRun, startRun } from '../../api/runs.ts';
import { isAbort, messageOf } from '../../api/server.ts';
import { metadataState } from '../../app/names.ts';
import { tokensOf } from '../../log/turns.ts';

/** One of the runs of a message. */
export interface Outcome {
  readonly number: number;
  readonly status: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
  /** Known once the run has started. */
  readonly sessionId?: string;
  /** The last text of an agent, or the error. */
  readonly answer: string;
  /** Tools in the order they were called. */
  readonly tools: readonly string[];
  readonly tokens: number;
  readonly ms: number;
}

export interface Repetition {
  readonly key: SessionKey;
  readonly message: Event;
  readonly times: number;
  readonly title: string;
}

/** Runs at the same time. */
const atOnce = 3;

export const blank = (number: number): Outcome => ({
  number,
  status: 'waiting',
  answer: '',
  tools: [],
  tokens: 0,
  ms: 0,
});

/** Sends a message several times, each time in a fork that ends before it, and reports the progress of each run. */
export async function repeat(
  repetition: Repetition,
  onChange: (outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<void> {
  let next = 1;
  const work = async (): Promise<void> => {
    while (next <= repetition.times && !signal.aborted) await runOnce(repetition, next++, onChange, signal);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, repetition.times) }, work));
}

async function runOnce(
  { key, message, times, title }: Repetition,
  number: number,
  onChange: (outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const begin = performance.now();
  let outcome: Outcome = { ...blank(number), status: 'running' };
  const tell = (changes: Partial<Outcome>): void => {
    outcome = { ...outcome, ms: performance.now() - begin, ...changes };
    onChange(outcome);
  };
  tell({});
  let stop = async (): Promise<void> => {};
  try {
    const metadata = {
      displayName: title,
      forkedFrom: { sessionId: key.sessionId, eventId: message.id },
      change: `run ${number} of ${times}`,
    };
    const session = await forkSession(key, { beforeEventId: message.id, state: metadataState(metadata) });
    const fork = { ...key, sessionId: session.id };
    tell({ sessionId: session.id });
    const feed = await startRun({ ...fork, newMessage: message.content, streaming: false }, signal);
    const { runId } = feed;
    if (runId !== undefined) stop = async () => void (await cancelRun(fork, runId).catch(() => undefined)); // it has ended
    for await (const { events } of feed.batches) for (const event of events) tell(after(outcome, event));
    if (outcome.status === 'running') tell({ status: 'done' });
  } catch (error) {
    if (!isAbort(error)) return tell({ status: 'failed', answer: messageOf(error) });
    await stop();
    tell({ status: 'stopped' });
  }
}

/** Adds an event to the outcome of its run. */
function after({ answer, tools, tokens }: Outcome, event: Event): Partial<Outcome> {
  const parts = event.content?.parts ?? [];
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
  const { errorMessage, errorCode } = event;
  return {
    answer: errorMessage ?? errorCode ?? (text === '' ? answer : text),
    ...((errorMessage ?? errorCode) !== undefined && { status: 'failed' }),
    tools: [...tools, ...parts.flatMap(({ functionCall }) => functionCall?.name ?? [])],
    tokens: tokens + (tokensOf(event)?.total ?? 0),
  };
}
