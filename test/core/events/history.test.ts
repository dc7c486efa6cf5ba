import { expect, it } from 'vitest';
import { wasRewound } from '../../../src/core/events/history.ts';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { type Event, newActions } from '../../../src/schemas/event.ts';
import type { Session } from '../../../src/schemas/session.ts';

const says = (invocationId: string): Event =>
  newEvent({ invocationId }, 'user', { content: { role: 'user', parts: [{ text: 'hi' }] } });

const rewind = (invocationId: string): Event =>
  newEvent({ invocationId: 'e-r' }, 'user', {
    actions: { ...newActions(), rewindBeforeInvocationId: invocationId },
  });

const session = (id: string, events: Event[]): Session => ({
  id,
  appName: 'a',
  userId: 'u',
  state: {},
  events,
  lastUpdateTime: 0,
});

it('notices a rewind however often it was asked before', () => {
  const events = [says('e-1'), says('e-2')];

  expect(wasRewound(session('s', []))).toBe(false);
  expect(wasRewound(session('s', events))).toBe(false);
  expect(wasRewound(session('s', [...events, says('e-3')]))).toBe(false);
  expect(wasRewound(session('s', [...events, says('e-3'), rewind('e-2')]))).toBe(true);
  expect(wasRewound(session('s', [...events, says('e-3'), rewind('e-2'), says('e-4')]))).toBe(true);
});

it('is not misled by a fork that shares events but not the rewind before them', () => {
  const [kept, undone, shared] = [says('e-1'), says('e-2'), says('e-3')];

  expect(wasRewound(session('fork', [kept, shared]))).toBe(false);
  expect(wasRewound(session('origin', [kept, undone, rewind('e-2'), shared]))).toBe(true);
});
