import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SseFrame } from '../../support/sse-frames.ts';
import { numbers, type Replica, twoReplicas } from './replicas.ts';

let bed: Awaited<ReturnType<typeof twoReplicas>>;
beforeAll(async () => {
  bed = await twoReplicas();
});
afterAll(() => bed.close());

const steps = 10;

/** Whole events and pieces of the next one, as a stream's ids count them. */
function placeOf({ id = '' }: Pick<SseFrame, 'id'>): [whole: number, piece: number] {
  const [whole = 0, piece = 0] = id
    .slice(id.lastIndexOf(':') + 1)
    .split('.')
    .map(Number);
  return [whole, piece];
}

/** What is wrong with what came behind a place: events are all there, pieces without a gap up to the end of their step. */
function faultsOf(tail: readonly SseFrame[], after: SseFrame, all: ReadonlyMap<string, unknown>): string[] {
  const faults: string[] = [];
  let [whole, piece] = placeOf(after);
  for (const frame of tail) {
    const [nextWhole, nextPiece] = placeOf(frame);
    const isNext = nextPiece > 0 ? nextWhole === whole && nextPiece === piece + 1 : nextWhole === whole + 1;
    if (!isNext) faults.push(`${frame.id} came behind ${whole}.${piece}, from ${after.id}`);
    if (!isDeepStrictEqual(all.get(frame.id ?? ''), frame.data))
      faults.push(`${frame.id} says something else, from ${after.id}`);
    [whole, piece] = [nextWhole, nextPiece];
  }
  if (whole !== steps) faults.push(`${after.id} was followed by ${whole} events`);
  return faults;
}

it.each([
  ['the other server', (): Replica => bed.b],
  ['its own server', (): Replica => bed.a],
])('goes on with a stream at %s from behind each of its frames, while the run goes on', async (_name, server) => {
  const { a } = bed;
  const session = await a.newSession('steps');
  const { run } = await a.start(session, `${steps} x 90`, { streaming: true });
  const frames: SseFrame[] = [];
  const tails: Promise<SseFrame[]>[] = [];
  for await (const frame of a.frames(session, run.id, '')) {
    frames.push(frame);
    tails.push(server().follow(session, run.id, { last: frame.id! }));
  }

  const all = new Map(frames.map(({ id, data }) => [id ?? '', data]));
  const faults = (await Promise.all(tails)).flatMap((tail, index) => faultsOf(tail, frames[index]!, all));
  expect(faults).toEqual([]);
  expect(frames).toHaveLength(steps * 4);
  const whole = frames.filter(({ data }) => data['partial'] === undefined);
  expect((await bed.b.history(session)).slice(1).map(({ text }) => text)).toEqual(numbers(steps));
  expect(whole).toHaveLength(steps);
});
