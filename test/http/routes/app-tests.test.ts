import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { weatherServer } from '../weather-server.ts';

const tests = '/dev/apps/weather/tests';

async function serverWithTest(name = 'paris') {
  const { app, send } = await weatherServer();
  const session = (await send('GET', '/apps/weather/users/u/sessions/s')).body;
  const made = await send('PUT', `${tests}/${name}`, { session_data: session });
  const run = async (query = ''): Promise<{ status: number; type: unknown; text: string }> => {
    const { statusCode, headers, body } = await app.inject({ method: 'POST', url: `${tests}/run${query}` });
    return { status: statusCode, type: headers['content-type'], text: body };
  };
  return { app, send, session, made, run };
}

it('makes a test of a session, lists, shows, renames and deletes it, as ADK for Python does', async () => {
  const { app, send, session, made } = await serverWithTest();

  expect(made).toMatchObject({ status: 200, body: { status: 'success', file: 'paris.json' } });
  expect((await send('GET', tests)).body).toEqual(['paris.json']);
  expect((await send('GET', `${tests}/paris.json`)).body).toEqual(session);
  const copy = await send('PUT', `${tests}/copy.json`, { sessionData: session });
  expect(copy.body).toEqual({ status: 'success', file: 'copy.json' });
  expect((await send('GET', '/dev/weather/tests')).body).toEqual(['copy.json', 'paris.json']);
  expect((await send('DELETE', `${tests}/paris`)).body).toEqual({ status: 'success' });
  expect((await send('GET', tests)).body).toEqual(['copy.json']);

  expect(await send('GET', `${tests}/paris.json`)).toMatchObject({
    status: 404,
    body: { detail: 'Test file not found: paris.json' },
  });
  expect((await send('DELETE', `${tests}/paris.json`)).status).toBe(404);
  expect((await send('POST', `${tests}/run?test_name=paris.json`)).status).toBe(404);
  for (const name of ['..%2Fx', '.hidden', 'a%5Cb']) {
    expect((await send('PUT', `${tests}/${name}`, { session_data: {} })).status).toBe(400);
  }
  expect((await send('PUT', `${tests}/x`, {})).status).toBe(400);
  expect((await app.inject({ method: 'GET', url: '/dev/apps/nobody/tests' })).statusCode).toBe(404);
});

it('passes a test while the agent does what it did, and tells what is different when it does not', async () => {
  const { send, session, run } = await serverWithTest();

  const good = await run('?test_name=paris.json');
  expect(good).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
  expect(good.text).toContain('weather/paris.json PASSED');
  expect(good.text).toContain('1 passed');

  const changed = JSON.parse(JSON.stringify(session).replaceAll('"sunny in Paris"', '"rainy in Paris"')) as JsonObject;
  await send('PUT', `${tests}/rain`, { session_data: changed });
  await send('PUT', `${tests}/rain_xfail`, { session_data: changed });
  await send('PUT', `${tests}/empty`, { session_data: { events: [] } });
  const all = await run();

  expect(all.text).toContain('collected 4 items');
  expect(all.text).toMatch(/rain\.json FAILED\n {4}- .*rainy.*\n {4}\+ .*sunny/);
  for (const verdict of ['empty.json SKIPPED', 'rain_xfail.json XFAIL', 'paris.json PASSED']) {
    expect(all.text).toContain(verdict);
  }
});

it('asks the models anew to rebuild a test', async () => {
  const { send, session, run } = await serverWithTest();
  const changed = JSON.parse(JSON.stringify(session).replaceAll('sunny in Paris', 'rainy in Paris')) as JsonObject;
  await send('PUT', `${tests}/paris`, { session_data: changed });
  expect((await run()).text).toContain('paris.json FAILED');

  expect((await send('POST', `${tests}/rebuild?test_name=paris.json`)).body).toEqual({ status: 'success' });

  const { events, lastUpdateTime } = (await send('GET', `${tests}/paris.json`)).body;
  expect(lastUpdateTime).toBeUndefined();
  expect(events[0]).toMatchObject({ id: 'e-1', author: 'user', content: { parts: [{ text: 'weather in Paris' }] } });
  expect(events[1]).toMatchObject({ content: { parts: [{ functionCall: { id: 'fc-1', name: 'get_weather' } }] } });
  expect(events.some((event: object) => 'timestamp' in event)).toBe(false);
  expect((await run('?test_name=paris')).text).toContain('paris.json PASSED');
});
