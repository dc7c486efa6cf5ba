import { afterAll, beforeAll, expect, it } from 'vitest';
import { VertexApi } from '../../../src/services/vertex/vertex-api.ts';
import { type DoubleReply, HttpDouble } from '../../support/http-double.ts';

let double: HttpDouble<unknown>;
beforeAll(async () => {
  double = await HttpDouble.start();
});
afterAll(() => double.close());

const resource = 'projects/p/locations/eu/reasoningEngines/1';
const api = (): VertexApi => new VertexApi({ project: 'p', location: 'eu', resource }, { baseUrl: double.url });
const operation = { name: `${resource}/sessions/s1/operations/7` };

/** Answers by path; whatever is not there is a 404. */
const answerAt = (replies: Readonly<Record<string, DoubleReply>>): void =>
  double.answer(({ path }) => replies[path.split('?', 1)[0] ?? ''] ?? { status: 404, json: {} });

it('looks at an operation by its location, or by its full name where it is known by that only', async () => {
  const done = { json: { ...operation, done: true, response: { fine: true } } };

  answerAt({ '/v1beta1/projects/p/locations/eu/operations/7': done });
  expect(await api().finished(operation)).toMatchObject({ response: { fine: true } });
  answerAt({ [`/v1beta1/${operation.name}`]: done });
  expect(await api().finished(operation)).toMatchObject({ response: { fine: true } });
  answerAt({});
  await expect(api().finished(operation)).rejects.toMatchObject({
    message: `The operation "${operation.name}" is not known any more`,
  });
});

it('throws what an operation failed with', async () => {
  const failed = (code: number): object => ({ ...operation, done: true, error: { code, message: 'no room' } });

  await expect(api().finished({ ...failed(6) })).rejects.toMatchObject({ code: 'session_exists' });
  await expect(api().finished({ ...failed(9) })).rejects.toMatchObject({
    code: 'invalid_request',
    message: `"${resource}": no room`,
  });
});

it('hands back what is not there or there already, and throws what is refused', async () => {
  answerAt({
    [`/v1beta1/${resource}/taken`]: { status: 409, json: {} },
    [`/v1beta1/${resource}/wrong`]: { status: 400, json: { error: { message: 'Unknown name "x"' } } },
    [`/v1beta1/${resource}/large`]: { status: 413, json: {} },
  });

  expect((await api().call('/missing')).status).toBe(404);
  expect((await api().call('/taken', { body: {} })).status).toBe(409);
  await expect(api().call('/wrong')).rejects.toMatchObject({
    code: 'invalid_request',
    message: `"${resource}": Unknown name "x"`,
  });
  await expect(api().call('/large', { body: {} })).rejects.toMatchObject({ code: 'too_large' });
});

it('reads a list page by page, and stops when nobody reads on', async () => {
  double.answer(({ path }) => {
    const page = Number(new URL(path, double.url).searchParams.get('pageToken') ?? 0);
    return { json: { items: [{ page }, { page }, 'no item'], ...(page < 2 && { nextPageToken: `${page + 1}` }) } };
  });
  double.forget();

  const all = await Array.fromAsync(api().list('/items', 'items'));
  expect(all.map(({ page }) => page)).toEqual([0, 0, 1, 1, 2, 2]);
  double.forget();
  for await (const _ of api().list('/items', 'items')) break;
  expect(double.requests).toHaveLength(1);
});
