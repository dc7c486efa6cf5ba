import { setTimeout as pause } from 'node:timers/promises';
import { isOver, type Run } from '../../src/schemas/run-record.ts';
import { ask, listen } from './client.ts';
import type { Clients } from './clients.ts';

// What the clients of this world do. Each kind has sessions of its own, so that none gets in the way of what another
// finds out.

const steps = 12;
const long = { steps: 400, ms: 20 };

/** Two on each session, that take turns: each run is followed to its end. */
export async function beginFollowers(clients: Clients, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const session = await clients.newSession();
    const work = async (turn: number): Promise<void> => {
      const run = await clients.start(session, turn, { steps, ms: 60 });
      if (run) await clients.follow(session, run, turn, steps);
    };
    clients.begin(work, index);
    clients.begin(work, index + 1);
  }
}

/** Streams as ADK's clients ask for them: what they show is acknowledged, too. */
export async function beginPlainStreams(clients: Clients): Promise<void> {
  const session = await clients.newSession();
  const [, , appName, , userId, , sessionId] = session.split('/');
  clients.begin(async (turn) => {
    const json = { appName, userId, sessionId, newMessage: { role: 'user', parts: [{ text: '6 x 60' }] } };
    try {
      for await (const frame of listen(clients.server(turn), '/run_sse', { json })) {
        const isWhole = frame.data['partial'] !== true && typeof frame.data['id'] === 'string';
        if (isWhole) clients.log.plain.push({ session, json: frame.json });
      }
    } catch {
      await pause(200);
    }
  }, 0);
}

/** Cancels at one server what runs at the other. */
export async function beginCancellers(clients: Clients): Promise<void> {
  const session = await clients.newSession();
  clients.begin(async (turn) => {
    const run = await clients.start(session, turn, long);
    if (!run) return;
    await pause((turn % 7) * 60);
    let fromMs = 0;
    const cancelled = await clients.again(turn + 1, async (server) => {
      fromMs = Date.now();
      const { status, body } = await ask(server, `${session}/runs/${run.id}/cancel`, { json: {} });
      // A server that is dead or frozen has not ended its run when the request stops waiting for it.
      return status === 200 && isOver((body as Run).status) ? (body as Run) : undefined;
    });
    if (!cancelled) return;
    clients.log.waits.push({ what: 'cancel', fromMs, untilMs: Date.now() });
    if (cancelled.status !== 'cancelled') clients.log.faults.push(`cancelling gave a run that is ${cancelled.status}`);
    clients.log.endings.push({ session, run: run.id, status: cancelled.status });
  }, 0);
}

/** Takes the place, from one server, of what runs at the other. */
export async function beginInterrupters(clients: Clients): Promise<void> {
  const session = await clients.newSession();
  clients.begin(async (turn) => {
    const first = await clients.start(session, turn, long);
    if (!first) return;
    await pause(100 + (turn % 5) * 60);
    const json = { newMessage: { role: 'user', parts: [{ text: '2 x 20' }] }, onBusy: 'interrupt' };
    const fromMs = Date.now();
    const second = await clients.again(turn + 1, async (server) => {
      const { status, body } = await ask(server, `${session}/runs`, { json, key: `interrupt ${turn}` });
      return status === 202 ? { run: body as Run, server } : undefined;
    });
    if (!second) return;
    try {
      for await (const _frame of listen(second.server, `${session}/runs/${second.run.id}/stream`, {})) {
        clients.log.waits.push({ what: 'interrupt', fromMs, untilMs: Date.now() });
        break;
      }
    } catch {
      // nothing to measure then
    }
    const status = await clients.over(session, first.id, turn);
    if (status !== undefined && status !== 'interrupted') clients.log.faults.push(`a run of ${first.id} was ${status}`);
    await clients.over(session, second.run.id, turn);
  }, 0);
}

/** Four at once, of which one may run: whoever is asked late may run after it. */
export async function beginRejected(clients: Clients): Promise<void> {
  const session = await clients.newSession();
  clients.log.alone.push(session);
  clients.begin(async (turn) => {
    const json = { newMessage: { role: 'user', parts: [{ text: '2 x 200' }] }, onBusy: 'reject' };
    const asked = [0, 1, 2, 3].map((index) => ask(clients.server(turn + index), `${session}/runs`, { json }));
    const answers = await Promise.allSettled(asked);
    const runs = answers.flatMap((answer) =>
      answer.status === 'fulfilled' && answer.value.status === 202 ? [answer.value.body as Run] : [],
    );
    for (const { id } of runs) await clients.over(session, id, turn);
    await pause(100);
  }, 0);
}
