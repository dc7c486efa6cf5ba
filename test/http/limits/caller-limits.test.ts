import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import type { Principal, PrincipalLimits } from '../../../src/core/principal.ts';
import { CallerLimits, type OperatorLimits } from '../../../src/http/limits/caller-limits.ts';

/** Requests as the class sees them: principals by the request that names them. */
function scene(limits: OperatorLimits = {}) {
  const principals = new Map<FastifyRequest, Principal>();
  const from = (id: string, own: PrincipalLimits = {}): FastifyRequest => {
    const request = { raw: { socket: { remoteAddress: '10.0.0.1' } } } as FastifyRequest;
    principals.set(request, { id, actsForUsers: false, roles: new Set(['user']), limits: own });
    return request;
  };
  const principalOf = (request: FastifyRequest) => principals.get(request);
  return { limits: new CallerLimits({ ...limits, principalOf, knowsCallers: true }), from };
}

const session = (sessionId: string, appName = 'demo') => ({ appName, userId: 'u', sessionId });

it('refuses active runs above the limit until one ends', () => {
  const { limits, from } = scene({ concurrentRuns: 2 });
  const ada = from('key:ada');
  const first = limits.admitRun(ada, session('1'));
  limits.admitRun(ada, session('2'));

  expect(() => limits.admitRun(ada, session('3'))).toThrow('You have 2 active runs, and may not have more');
  limits.admitRun(from('key:bob'), session('4'));
  first.ended();
  first.ended();

  limits.admitRun(ada, session('3'));
  expect(() => limits.admitRun(ada, session('5'))).toThrow('2 active runs');
});

it('counts the runs that wait for a session apart from the active ones', () => {
  const { limits, from } = scene({ concurrentRuns: 1, queuedRuns: 1 });
  const ada = from('key:ada');
  const active = limits.admitRun(ada, session('1'));
  const waiting = limits.admitRun(ada, session('1'));

  expect(() => limits.admitRun(ada, session('1'))).toThrow('You have 1 waiting run, and may not have more');
  active.ended();
  waiting.begun();

  expect(() => limits.admitRun(ada, session('2'))).toThrow('You have 1 active run, and may not have more');
  limits.admitRun(ada, session('1'));
});

it('goes by the credential first, and by the address of a caller it does not know', () => {
  const { limits, from } = scene({ concurrentRuns: 1 });
  const eve = from('key:eve', { concurrentRuns: 2 });
  const stranger = { raw: { socket: { remoteAddress: '10.0.0.9' } } } as FastifyRequest;

  limits.admitRun(eve, session('1'));
  limits.admitRun(eve, session('2'));
  limits.admitRun(stranger, session('3'));

  expect(() => limits.admitRun(eve, session('4'))).toThrow('2 active runs');
  expect(() => limits.admitRun(stranger, session('5'))).toThrow('1 active run');
});

it('limits an app over all its callers, and takes nothing for a run that it refuses', () => {
  const { limits, from } = scene({ apps: { shop: { concurrentRuns: 1 } } });
  const run = limits.admitRun(from('key:ada'), session('1', 'shop'));

  expect(() => limits.admitRun(from('key:bob'), session('2', 'shop'))).toThrow('The app has 1 active run');
  limits.admitRun(from('key:bob'), session('2')).ended();
  run.ended();

  expect(limits.size).toBe(0);
});

it('limits streams, and keeps nothing of callers that have nothing open', () => {
  const { limits, from } = scene({ openStreams: 1 });
  const ada = from('key:ada');
  const close = limits.openStream(ada);

  expect(() => limits.openStream(ada)).toThrow('You have 1 open stream,');
  close();
  close();
  for (let caller = 0; caller < 10_000; caller += 1) {
    const request = from(`key:${caller}`);
    limits.admitRun(request, session(`${caller}`)).ended();
    limits.openStream(request)();
  }

  limits.openStream(ada)();
  expect(limits.size).toBe(0);
});
