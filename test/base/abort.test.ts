import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { abortable, delay, LinkedAbort, stopOnAbort } from '../../src/base/abort.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const never = new Promise<never>(() => {});

it('follows its parent, with the reason, also when the parent was aborted before', () => {
  const parent = new AbortController();
  const child = new LinkedAbort(parent.signal);

  parent.abort('stop');

  expect(child.signal.reason).toBe('stop');
  expect(new LinkedAbort(parent.signal).signal.reason).toBe('stop');
});

it('aborts alone and lets go of its parent', () => {
  const parent = new AbortController();
  {
    using child = new LinkedAbort(parent.signal);
    expect(listeners(parent.signal)).toBe(1);
    child.abort('mine');
    expect(child.signal.aborted).toBe(true);
  }

  expect(parent.signal.aborted).toBe(false);
  expect(listeners(parent.signal)).toBe(0);
});

it('settles like the work it guards and leaves no listener', async () => {
  const { signal } = new AbortController();

  expect(await abortable(Promise.resolve(7), signal)).toBe(7);
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(listeners(signal)).toBe(0);
});

it('stops waiting for work when the signal aborts, and swallows its late failure', async () => {
  const control = new AbortController();
  const late = Promise.withResolvers<never>();
  const waiting = abortable(late.promise, control.signal);

  control.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');

  late.reject(new Error('late'));
  await expect(abortable(never, control.signal)).rejects.toThrow('cancelled');
});

it('waits, and stops waiting when the signal aborts', async () => {
  const control = new AbortController();

  await delay(1, control.signal);
  expect(listeners(control.signal)).toBe(0);

  const waiting = delay(1e6, control.signal);
  control.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  await expect(delay(1, control.signal)).rejects.toThrow('cancelled');
});

it('yields like its source and leaves no listener', async () => {
  const { signal } = new AbortController();
  async function* source(): AsyncGenerator<number> {
    yield 1;
    yield 2;
  }

  expect(await Array.fromAsync(stopOnAbort(source(), signal))).toEqual([1, 2]);
  expect(listeners(signal)).toBe(0);
});

it('leaves a source that never answers when the signal aborts', async () => {
  const control = new AbortController();
  async function* source(): AsyncGenerator<number> {
    yield 1;
    await never;
  }
  const values = stopOnAbort(source(), control.signal);

  expect(await values.next()).toEqual({ value: 1, done: false });
  const next = values.next();
  control.abort(new Error('cancelled'));

  await expect(next).rejects.toThrow('cancelled');
  expect(listeners(control.signal)).toBe(0);
});

it('tells of an abort that came between two values, and closes the source', async () => {
  const control = new AbortController();
  let closed = false;
  async function* source(): AsyncGenerator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      closed = true;
    }
  }
  const values = stopOnAbort(source(), control.signal);

  await values.next();
  control.abort(new Error('cancelled'));

  await expect(values.next()).rejects.toThrow('cancelled');
  expect(await values.next()).toEqual({ value: undefined, done: true });
  expect(closed).toBe(true);
});

it('does not start a source once the signal has aborted', async () => {
  let started = false;
  async function* source(): AsyncGenerator<number> {
    started = true;
    yield 1;
  }

  await expect(stopOnAbort(source(), AbortSignal.abort(new Error('too late'))).next()).rejects.toThrow('too late');
  expect(started).toBe(false);
});

it('closes its source when the consumer leaves', async () => {
  let closed = false;
  async function* source(): AsyncGenerator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      closed = true;
    }
  }

  for await (const value of stopOnAbort(source(), new AbortController().signal)) {
    expect(value).toBe(1);
    break;
  }

  expect(closed).toBe(true);
});

it('passes on the failure of its source', async () => {
  async function* source(): AsyncGenerator<number> {
    yield 1;
    throw new Error('broken');
  }

  await expect(Array.fromAsync(stopOnAbort(source(), new AbortController().signal))).rejects.toThrow('broken');
});
