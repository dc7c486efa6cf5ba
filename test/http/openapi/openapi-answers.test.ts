import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import { SteppedAgent, type Store, stores, withStores } from '../run-server.ts';

const runServer = withStores();
const one = '/apps/{appName}/users/{userId}/sessions/{sessionId}';
const message = { role: 'user', parts: [{ text: 'Hi' }] };

/** A server with something of everything, its description, and the names of what it has. */
async function filled(store: Store) {
  const agent = new SteppedAgent('Hi');
  agent.isOpen = true;
  const { app, key, start, wait, services } = await runServer(agent, store);
  const run = (await start('one')).json<Run>();
  await wait(run.id);
  const values: Record<string, string> = { ...key, runId: run.id, artifactName: 'note', version: '0' };
  const session = await services.sessions.getSession(key);
  values['eventId'] = session?.events.at(-1)?.id ?? '';
  await services.artifacts?.saveArtifact(key, 'note', { text: 'x' });
  const document = (await app.inject('/openapi.json')).json<OpenApiDocument>();
  return { app, document, values };
}

it.each(stores)('answers as the description of the API says (%s)', async (store) => {
  const { app, document, values } = await filled(store);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  const checked: string[] = [];
  const check = async (method: string, path: string, payload?: object): Promise<void> => {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'none'));
    const answer = await app.inject({ method: method.toUpperCase() as 'GET', url, ...(payload && { payload }) });
    const responses = document.paths[path]?.[method]?.responses ?? {};
    const status = String(answer.statusCode);
    const described = responses[status] ? status : 'default';
    const type = (answer.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const pointer = [path, method, 'responses', described, 'content', type, 'schema']
      .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const content = responses[described]?.content ?? {};
    expect([`${method} ${url} ${status}`, Object.keys(content)]).toEqual([
      `${method} ${url} ${status}`,
      expect.arrayContaining([type]),
    ]);
    if (!type.endsWith('json')) return;
    const isRight = ajv.compile({ $ref: `api#/paths/${pointer}` });
    expect([`${method} ${url} ${status}`, isRight(answer.json()), isRight.errors]).toEqual([
      `${method} ${url} ${status}`,
      true,
      null,
    ]);
    checked.push(`${method} ${path} ${status}`);
  };

  for (const [path, operations] of Object.entries(document.paths)) {
    if (!operations['get'] || /dev-ui|run.live|^\/$|\/docs$/.test(path)) continue;
    await check('get', path);
  }
  await check('post', '/apps/{appName}/users/{userId}/sessions', {});
  await check('post', '/run', {
    appName: 'app',
    userId: values['userId'],
    sessionId: values['sessionId'],
    newMessage: message,
  });
  await check('post', `${one}/artifacts`, { filename: 'note', artifact: { text: 'y' } });
  await check('post', `${one}/runs`, { newMessage: message });
  await check('post', `${one}/fork`, {});
  await check('patch', one, { stateDelta: { a: 1 } });
  await check('post', `${one}/artifacts`, {});
  await check('delete', `${one}/artifacts/{artifactName}`);
  await check('delete', one);

  expect(checked.filter((line) => line.endsWith(' 200')).length).toBeGreaterThan(25);
});

it.each(stores)('says which names and numbers it takes (%s)', async (store) => {
  const { document, values, app } = await filled(store);
  const get = document.paths[`${one}/events`]?.['get'];
  const schemaOf = (name: string) => get?.parameters?.find((parameter) => parameter.name === name)?.schema;

  expect(schemaOf('sessionId')).toMatchObject({ minLength: 1, maxLength: 256, pattern: expect.any(String) as string });
  expect(schemaOf('pageSize')).toMatchObject({ type: 'integer', minimum: 1 });
  const events = `/apps/app/users/${values['userId']}/sessions/${values['sessionId']}/events`;
  expect((await app.inject(`${events}?pageSize=0`)).statusCode).toBe(400);
});

it.each(stores)('takes page tokens for the session they were given out for (%s)', async (store) => {
  const { app, values } = await filled(store);
  const user = `/apps/app/users/${values['userId']}/sessions`;
  const events = `${user}/${values['sessionId']}/events`;
  const fork = (await app.inject({ method: 'POST', url: `${user}/${values['sessionId']}/fork` })).json<{
    id: string;
  }>();
  const { nextPageToken } = (await app.inject(`${events}?pageSize=1`)).json<{ nextPageToken: string }>();

  expect((await app.inject(`${events}?pageToken=${nextPageToken}`)).statusCode).toBe(200);
  const old = Buffer.from('events:1').toString('base64url');
  for (const url of [
    `${user}/${fork.id}/events?pageToken=${nextPageToken}`,
    `${events}?pageToken=${old}`,
    `${events}?pageToken=${nextPageToken}x`,
    `${events}?pageToken=`,
  ]) {
    expect((await app.inject(url)).json()).toMatchObject({ status: 400, code: 'invalid_request' });
  }
});

it.each(stores)('refuses to go on behind an event that a run never had (%s)', async (store) => {
  const { app, values } = await filled(store);
  const url = `/apps/app/users/${values['userId']}/sessions/${values['sessionId']}/runs/${values['runId']}/stream`;
  const behind = (whole: number) => app.inject({ url, headers: { 'last-event-id': `${values['runId']}:${whole}` } });

  expect((await behind(1)).statusCode).toBe(200);
  for (const whole of [2, 999_999_999]) {
    expect((await behind(whole)).json()).toMatchObject({ status: 400, code: 'invalid_request' });
  }
});
