import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { refusalLog } from '../../../src/http/access/refusal-log.ts';
import { knowingServer, runOf } from './scene.ts';

it('logs each refusal: who, what, from where, the request, and never a credential', async () => {
  const { lines, call } = await knowingServer();
  const missing = await call(undefined, 'GET /list-apps?token=secret');
  const bad = await call('bad', 'POST /run', runOf('ada'));
  const foreign = await call('bob', 'POST /run', runOf('ada'));
  await call('bob', 'GET /apps/demo/users/bob/sessions/none');

  const refusals = lines.filter(({ message }) => message === 'request refused');
  expect(refusals).toEqual([
    {
      message: 'request refused',
      audit: 'refused',
      code: 'unauthenticated',
      method: 'GET',
      path: '/list-apps',
      from: '127.0.0.1',
      requestId: missing.headers.get('x-request-id'),
      reason: 'The request has no credential that this server accepts',
    },
    expect.objectContaining({ code: 'unauthenticated', requestId: bad.headers.get('x-request-id') }),
    expect.objectContaining({
      code: 'forbidden',
      principal: 'custom:bob',
      userId: 'bob',
      path: '/run',
      requestId: foreign.headers.get('x-request-id'),
      reason: 'You may not act for this user',
    }),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/-credential|secret/);
});

it('leaves out lines above its rate, and says how many', () => {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const log = refusalLog({ warn: (fields) => void lines.push(fields as Record<string, unknown>) }, () => nowMs);
  const request = { method: 'GET', url: '/x', id: 'r', raw: { socket: {} } } as unknown as FastifyRequest;
  const refuse = (code: 'forbidden' | 'not_found' = 'forbidden'): void =>
    log(new AppError(code, 'No'), request, undefined);

  for (let count = 0; count < 1_000; count += 1) refuse();
  expect(lines).toHaveLength(40);
  nowMs = 500;
  refuse('not_found');
  for (let count = 0; count < 1_000; count += 1) refuse();
  expect(lines).toHaveLength(50);
  expect(lines.map(({ unlogged }) => unlogged).filter((count) => count !== undefined)).toEqual([960]);
});
