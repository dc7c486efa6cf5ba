import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TurnReader } from '../../src/a2a/turn-reader.ts';
import type { A2aUpdate } from '../../src/a2a/wire.ts';
import { textOf } from '../../src/schemas/content.ts';

const chunk = (text: string, fields: object = {}, artifactId = 'a'): A2aUpdate => ({
  artifactUpdate: { artifact: { artifactId, parts: [{ text }] }, ...fields },
});
const completed: A2aUpdate = { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } };
const partial = { adk_partial: true };

/** What is said in a turn: `~` before what is only a piece. */
function heard(...updates: A2aUpdate[]): string[] {
  const reader = new TurnReader();
  return updates
    .flatMap((update) => (reader.isOver ? [] : reader.read(update)))
    .map(({ parts, partial: isPiece }) => `${isPiece ? '~' : ''}${textOf({ role: 'model', parts: [...parts] })}`);
}

it('says every text once as a whole, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), { minLength: 1 }), (artifacts) => {
      const updates = artifacts.flatMap((pieces, id) =>
        pieces.map((piece, index) =>
          chunk(piece, { append: index > 0, lastChunk: index === pieces.length - 1 }, `a${id}`),
        ),
      );

      const whole = heard(...updates, completed).filter((text) => !text.startsWith('~'));

      expect(whole.join('|')).toBe(
        artifacts
          .map((pieces) => pieces.join(''))
          .filter((text) => !text.startsWith('~'))
          .join('|'),
      );
    }),
    { numRuns: 200 },
  );
});

it('takes the whole in the place of pieces marked as partial', () => {
  const pieces = [chunk('Hel', { append: true, metadata: partial }), chunk('lo', { append: true, metadata: partial })];

  expect(heard(...pieces, chunk('Hello', { lastChunk: true }), completed)).toEqual(['~Hel', '~lo', 'Hello']);
  expect(heard(...pieces, completed)).toEqual(['~Hel', '~lo', 'Hello']);
  expect(
    heard(
      ...pieces,
      chunk('', { lastChunk: true, metadata: partial }),
      chunk('Hello', { append: true, lastChunk: true }),
      completed,
    ),
  ).toEqual(['~Hel', '~lo', 'Hello']);
});

it('says an artifact that came in chunks once, though the finished task repeats it', () => {
  const artifacts = [{ artifactId: 'a', parts: [{ text: 'Hello' }] }];
  const task: A2aUpdate = { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' }, artifacts } };

  expect(heard(chunk('Hel'), chunk('lo', { append: true, lastChunk: true }), task)).toEqual(['~Hel', '~lo', 'Hello']);
});

it('begins an artifact anew when it is told to', () => {
  expect(heard(chunk('wrong'), chunk('ri'), chunk('ght', { append: true, lastChunk: true }), completed)).toEqual([
    '~wrong',
    '~ri',
    '~ght',
    'right',
  ]);
});

it('says several answers in one artifact one by one', () => {
  const first = chunk('one', { lastChunk: true });
  const second = chunk('two', { append: true, lastChunk: true });

  expect(heard(first, second, completed)).toEqual(['one', 'two']);
});

it('counts of a task that is sent again only what is new', () => {
  const task = (state: string): A2aUpdate => ({
    task: {
      id: 't',
      status: { state },
      artifacts: [
        { artifactId: 'a', parts: [{ text: 'one' }] },
        { artifactId: 'b', parts: [{ text: 'two' }] },
      ],
    },
  });

  expect(heard(chunk('one', { lastChunk: true }), task('TASK_STATE_COMPLETED'))).toEqual(['one', 'two']);
  expect(heard(chunk('on'), task('TASK_STATE_COMPLETED'))).toEqual(['~on', 'one', 'two']);
});

it('hears nothing after the end', () => {
  expect(heard(completed, chunk('late', { lastChunk: true }))).toEqual([]);
});

it('names a failed task by its state, or by what the agent says failed', () => {
  const failing = (state: string, metadata?: Record<string, unknown>) =>
    new TurnReader().read({ statusUpdate: { status: { state }, ...(metadata && { metadata }) } })[0]?.failure;

  expect(failing('TASK_STATE_REJECTED')).toEqual({
    code: 'TASK_STATE_REJECTED',
    message: 'The task ended as TASK_STATE_REJECTED',
  });
  expect(failing('TASK_STATE_FAILED', { adk_error_code: 'X', adk_error_message: 'y' })).toEqual({
    code: 'X',
    message: 'y',
  });
});

it('says what a peer said on its way to a question without words, and no more than once', () => {
  const status = (state: string, ...parts: object[]): A2aUpdate => ({
    statusUpdate: {
      status: {
        state: `TASK_STATE_${state}`,
        ...(parts.length > 0 && { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }),
      },
    },
  });
  const call = { data: { id: 'c1', name: 'approve', args: {} }, metadata: { adk_type: 'function_call' } };
  const spoken = (...updates: A2aUpdate[]): unknown[] => {
    const reader = new TurnReader();
    const said = updates.flatMap((update) => reader.read(update));
    return said.map(({ parts }) =>
      parts.map(({ text, thought, functionCall }) => [text ?? functionCall?.name, thought === true]),
    );
  };

  expect(spoken(status('WORKING', { text: 'I ask your boss.' }), status('INPUT_REQUIRED', call))).toEqual([
    [['I ask your boss.', true]],
    [
      ['I ask your boss.', false],
      ['approve', false],
    ],
  ]);
  expect(spoken(status('WORKING', { text: 'Looking' }), status('INPUT_REQUIRED', { text: 'Which city?' }))).toEqual([
    [['Looking', true]],
    [['Which city?', false]],
  ]);
  const artifact = chunk('Done so far.', { lastChunk: true });
  expect(spoken(status('WORKING', { text: 'Looking' }), artifact, status('INPUT_REQUIRED', call)).at(-1)).toEqual([
    ['approve', false],
  ]);
});
