import { describe, expect, it } from 'vitest';
import { EventLog } from '../../dev-ui/src/log/event-log.ts';
import { fits, parseFilter, term } from '../../dev-ui/src/log/filter.ts';
import type { Part } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';

let count = 0;

function event(
  author: string,
  parts: Part[],
  fields: Omit<Partial<Event>, 'actions'> & { actions?: Partial<Event['actions']> } = {},
): Event {
  count += 1;
  const actions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
  return {
    id: `event-${count}`,
    invocationId: 'e-1',
    author,
    timestamp: count,
    content: { role: author === 'user' ? 'user' : 'model', parts },
    ...fields,
    actions: { ...actions, ...fields.actions },
  };
}

const call = (id: string, name = 'look'): Event => event('bot', [{ functionCall: { id, name, args: {} } }]);
const answer = (id: string, response: Record<string, unknown>, author = 'bot'): Event =>
  event(author, [{ functionResponse: { id, name: 'look', response } }]);

function logOf(...events: Event[]): EventLog {
  const log = new EventLog();
  log.append(events);
  return log;
}

describe('the event log', () => {
  it('puts a call and its result into one row', () => {
    const [asked, told] = [call('a'), answer('a', { found: 1 })];

    const log = logOf(asked, told);

    expect(log.rows).toMatchObject([{ kind: 'call', status: 'ok', event: asked, responseEvent: told }]);
    expect([log.rowOf(asked.id), log.rowOf(told.id)]).toEqual([0, 0]);
  });

  it('folds four calls in a row and more, and keeps their results apart', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];

    const log = logOf(...ids.flatMap((id) => [call(id), answer(id, id === 'c' ? { error: 'no' } : {})]));

    expect(log.rows).toMatchObject([{ kind: 'fold' }]);
    const [fold] = log.rows;
    const statuses = fold?.kind === 'fold' ? fold.calls.map(({ status }) => status) : [];
    expect(statuses).toEqual(['ok', 'ok', 'error', 'ok', 'ok']);
  });

  it('replaces a row that changes and leaves the others the same objects', () => {
    const log = logOf(event('user', [{ text: 'hi' }]), call('a'));
    const [said, asked] = log.rows;

    log.append([answer('a', {})]);

    expect(log.rows[0]).toBe(said);
    expect(log.rows[1]).not.toBe(asked);
  });

  it('shows the current speech until its event arrives, even when that event is known already', () => {
    const whole = event('bot', [{ text: 'Hello' }]);
    const log = logOf(
      event('bot', [{ text: 'Hel' }], { partial: true }),
      event('bot', [{ text: 'lo' }], { partial: true }),
    );
    expect(log.speeches).toMatchObject([{ author: 'bot', text: 'Hello', thought: '' }]);

    log.append([whole]);
    log.append([event('bot', [{ text: 'Hel' }], { partial: true }), whole]);

    expect(log.speeches).toEqual([]);
    expect(log.events).toEqual([whole]);
  });

  it('separates the speeches of parallel agents', () => {
    const piece = (author: string, text: string): Event => event(author, [{ text }], { partial: true });

    const log = logOf(piece('a', 'one '), piece('b', 'uno '), piece('a', 'two'), piece('b', 'due'));
    expect(log.speeches.map(({ text }) => text)).toEqual(['one two', 'uno due']);
    log.append([event('a', [{ text: 'one two' }])]);

    expect(log.speeches.map(({ text }) => text)).toEqual(['uno due']);
  });

  it('lists requests until they are answered, and shows their calls as waiting', () => {
    const asked = event('bot', [{ functionCall: { id: 'q', name: 'adk_request_confirmation', args: {} } }]);
    const waits = event('bot', [{ functionResponse: { id: 'a', name: 'look', response: { error: 'asks first' } } }], {
      actions: { requestedToolConfirmations: { a: { confirmed: false } } },
    });
    const log = logOf(call('a'), asked, waits);
    expect([...log.pending.keys()]).toEqual(['q']);
    expect(log.rows[0]).toMatchObject({ kind: 'call', status: 'waiting' });

    log.append([event('user', [{ functionResponse: { id: 'q', name: 'adk_request_confirmation', response: {} } }])]);

    expect(log.pending.size).toBe(0);
  });

  it('knows which events are rewound, and folds the state of all', () => {
    const first = event('user', [{ text: 'one' }], {
      invocationId: 'e-a',
      actions: { stateDelta: { x: 1, 'temp:y': 2 } },
    });
    const second = event('user', [{ text: 'two' }], {
      invocationId: 'e-b',
      actions: { stateDelta: { x: null, z: 3 } },
    });
    const back = event('user', [], { invocationId: 'e-c', actions: { rewindBeforeInvocationId: 'e-b' } });

    const log = logOf(first, second, back);

    expect([0, 1, 2].map((index) => log.isRewound(index))).toEqual([false, true, false]);
    expect(log.state).toEqual({ z: 3 });
  });

  it('notifies subscribers once for each batch', () => {
    const log = new EventLog();
    let told = 0;
    log.subscribe(() => (told += 1));

    log.append([call('a'), answer('a', {}), call('b')]);

    expect(told).toBe(1);
  });
});

describe('a filter', () => {
  const log = logOf(
    event('user', [{ text: 'Where is Lisbon?' }]),
    call('a', 'search flights'),
    event('bot', [], { errorCode: 'QUOTA', errorMessage: 'used up' }),
    event('bot', [{ text: 'In Portugal' }], { actions: { stateDelta: { place: 'Lisbon' } } }),
  );
  const kindsOf = (text: string): string[] =>
    log.rows.filter((row) => fits(row, parseFilter(text))).map(({ kind }) => kind);

  it.each([
    ['lisbon', ['user', 'text']],
    ['kind:text', ['text']],
    ['author:bot', ['call', 'error', 'text']],
    [term('tool', 'search flights'), ['call']],
    ['is:error', ['error']],
    ['is:state', ['text']],
    ['lisbon is:error', []],
    ['"in portugal"', ['text']],
  ])('%s finds %s', (text, kinds) => {
    expect(kindsOf(text)).toEqual(kinds);
  });
});
