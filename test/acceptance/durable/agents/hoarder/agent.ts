import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, newEvent } from 'agent-server';

/** Takes its time, whoever tells it to stop, and then leaves something in every store. */
export const rootAgent: Agent = {
  name: 'hoarder',
  async *run(ctx) {
    const { artifacts, memories } = ctx.services;
    const { id: sessionId, appName, userId, state } = ctx.session;
    const own = ctx.session.events.filter((event) => event.invocationId === ctx.invocationId);
    const say = (text: string) => newEvent(ctx, 'hoarder', { content: { role: 'model', parts: [{ text }] } });
    if (own.length === 1) yield say('begun');
    const count = Number(state['user:count'] ?? 0);
    await pause(1_500);
    await artifacts?.saveArtifact({ appName, userId, sessionId }, 'note.txt', { text: 'kept' });
    await memories?.addSessionToMemory(ctx.session);
    const event = say('kept');
    yield { ...event, actions: { ...event.actions, stateDelta: { 'user:count': count + 1 } } };
  },
};
