import fc from 'fast-check';
import { expect, it } from 'vitest';
import { align, linesOf } from '../../dev-ui/src/views/compare/align.ts';
import type { ComparedEvent } from '../../dev-ui/src/views/compare/compared-event.ts';
import { says } from '../http/server.ts';

const event = says('x');
const events = (texts: readonly string[]): ComparedEvent[] =>
  texts.map((text) => ({ event, author: 'a', text, signature: text }));
const history = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

it('shows every event of both sides once and in order, and calls only equal events the same', () => {
  fc.assert(
    fc.property(history, history, (left, right) => {
      const pairs = align(events(left), events(right));
      expect(pairs.flatMap((pair) => pair.left?.text ?? [])).toEqual(left);
      expect(pairs.flatMap((pair) => pair.right?.text ?? [])).toEqual(right);
      for (const pair of pairs) {
        expect(pair.isSame).toBe(pair.left !== undefined && pair.left.text === pair.right?.text);
      }
    }),
  );
});

it('folds long stretches of equal events, and loses none of them', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (same) => {
      const pairs = same.map((isSame) => ({ left: undefined, right: undefined, isSame }));
      const count = linesOf(pairs, new Set()).reduce((sum, line) => sum + (line.kind === 'fold' ? line.count : 1), 0);
      expect(count).toBe(pairs.length);
    }),
  );
});

it('opens a folded stretch, and marks the first difference once', () => {
  const same = Array.from({ length: 20 }, (_, index) => `${index}`);
  const pairs = align(events([...same, 'left', 'end']), events([...same, 'right', 'end']));

  const folded = linesOf(pairs, new Set());
  const [fold] = folded;
  expect(fold).toEqual({ kind: 'fold', from: 0, count: 18 });
  expect(linesOf(pairs, new Set([0]))).toHaveLength(22);
  expect(folded.filter((line) => line.kind === 'pair' && line.isFirst)).toHaveLength(1);
});
