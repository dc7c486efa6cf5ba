import fc from 'fast-check';
import { expect, it } from 'vitest';
import { criticalPath, rowsOf, type Span, treeOf } from '../../dev-ui/src/views/trace/spans.ts';
import { marksOf, timelineOf, zoomed } from '../../dev-ui/src/views/trace/timeline.ts';

const span = (id: string, start: number, end: number | undefined, parentId?: string): Span => ({
  id,
  traceId: parentId === undefined ? id : 't',
  parentId,
  kind: 'other',
  label: id,
  start,
  end,
  error: undefined,
  errorName: undefined,
  where: undefined,
  model: undefined,
  tokens: undefined,
  eventId: undefined,
  invocationId: undefined,
});

it('puts children below their parents in order of time, and leaves out what is folded', () => {
  const tree = treeOf([span('b', 5, 9, 'root'), span('root', 0, 10), span('a', 1, 4, 'root'), span('a1', 2, 3, 'a')]);
  const ids = (folded: string[]): string[] => rowsOf(tree, new Set(folded), new Set()).map((row) => row.span.id);

  expect(ids([])).toEqual(['root', 'a', 'a1', 'b']);
  expect(ids(['a'])).toEqual(['root', 'a', 'b']);
  expect(ids(['root'])).toEqual(['root']);
});

it('treats a span whose parent is unknown as a root', () => {
  expect(treeOf([span('lost', 0, 1, 'nobody')]).roots.map(({ id }) => id)).toEqual(['lost']);
});

it('finds the spans that determined the duration of a run', () => {
  const tree = treeOf([
    span('root', 0, 10),
    span('quick', 1, 3, 'root'),
    span('slow', 1, 6, 'root'),
    span('last', 6, 10, 'root'),
    span('inside', 7, 9.8, 'last'),
    span('open', 9, undefined, 'last'),
  ]);

  expect([...criticalPath(tree, 10)].toSorted()).toEqual(['last', 'open', 'root', 'slow'].toSorted());
});

it('shortens long pauses between runs, and no short ones', () => {
  const line = timelineOf([span('one', 0, 100), span('two', 150, 250), span('three', 60_250, 60_300)], 60_300);

  expect(line.place('two', 150)).toBe(150);
  expect(line.place('three', 60_250)).toBe(750);
  expect(line.length).toBe(800);
  expect(line.cuts).toEqual([500]);
});

it('keeps the visible range within the line at every zoom', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, share, fc.double({ min: 0.1, max: 10, noNaN: true }), (a, b, around, factor) => {
      const range = { from: Math.min(a, b) * 1_000, to: Math.max(a, b) * 1_000 + 1 };
      const { from, to } = zoomed(range, factor, around * 1_000, 1_001);
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(1_001.000001);
      expect(to).toBeGreaterThan(from);
    }),
  );
});

it('marks round times within the range', () => {
  expect(marksOf({ from: 0, to: 50 })).toEqual([0, 10, 20, 30, 40, 50]);
  expect(marksOf({ from: 1_020, to: 1_050 })).toEqual([1_020, 1_025, 1_030, 1_035, 1_040, 1_045, 1_050]);
});
