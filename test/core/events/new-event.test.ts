import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';

const ctx = { invocationId: 'e-1', branch: 'a.b' };

it('gives each event an id, a later time, the invocation and the branch', () => {
  const [first, second] = [newEvent(ctx, 'agent'), newEvent(ctx, 'agent', { branch: 'c' })];

  expect(first).toMatchObject({ invocationId: 'e-1', author: 'agent', branch: 'a.b' });
  expect(second.branch).toBe('c');
  expect(second.id).not.toBe(first.id);
  expect(second.timestamp).toBeGreaterThan(first.timestamp);
});

it('takes credentials out of the error of an event', () => {
  const key = ['sk', 'proj', 'aB3dE5gH7jK9mN1pQ2rS'].join('-');

  const event = newEvent(ctx, 'agent', { errorCode: 'UNAUTHENTICATED', errorMessage: `Refused ${key} today` });

  expect(event.errorMessage).toBe('Refused [redacted] today');
});
