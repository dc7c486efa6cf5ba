import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, runBody, runEvents, sessionsPath } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { sendRaw } from './raw-http.ts';

let server: ProbeServer;
let id = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ id } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const runs = { numRuns: 400 };
const planned = [200, 400, 404, 405, 409, 413, 414, 415, 429, 431];
const json = { 'content-type': 'application/json' };

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom('chat', 'user', 'hi', '', '..', '__proto__', 'constructor', '\u0000', -1, 1e308, [], {}, null),
);
const runFields = ['appName', 'userId', 'sessionId', 'newMessage', 'streaming', 'stateDelta', 'runConfig', 'onBusy'];
/** A valid run request with some of its fields replaced, so that what is left gets past the first check. */
const oddRun = fc.dictionary(fc.constantFrom(...runFields), anyValue, { maxKeys: 2 });
const oddContent = fc.record(
  {
    role: anyValue,
    parts: fc.oneof(
      anyValue,
      fc.array(
        fc.record(
          { text: anyValue, inlineData: anyValue, functionCall: anyValue, functionResponse: anyValue, extra: anyValue },
          { requiredKeys: [] },
        ),
        { maxLength: 4 },
      ),
    ),
  },
  { requiredKeys: [] },
);
const oddName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('.', '..', '%', '%2e', '\\', 'a/b'),
);

/** The name as a path segment: encoded, or as raw as a request line can carry it. */
const segment = (name: string, raw: boolean): string =>
  raw ? name.replaceAll(/[^!-~]/g, '') || 'x' : encodeURIComponent(name.toWellFormed());

it('answers odd run requests with a planned status', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(oddRun, fc.option(oddContent), fc.boolean(), async (changes, newMessage, streams) => {
      const body = { ...runBody('chat', id, 'hi'), ...(newMessage && { newMessage }), ...changes };

      expect(await server.client.post(streams ? '/run_sse' : '/run', body)).toBeAnyOf(planned);
    }),
    runs,
  );
});

it('answers odd sessions, deltas, artifacts and imports with a planned status', { timeout: 120_000 }, async () => {
  const { path } = await newSession(server.client, 'chat');
  const requests: [string, string, string[]][] = [
    ['POST', sessionsPath('chat', 'fuzz'), ['sessionId', 'state', 'events']],
    ['PATCH', path, ['stateDelta', 'state_delta']],
    ['POST', `${path}/artifacts`, ['filename', 'artifact', 'customMetadata']],
    ['PATCH', '/apps/chat/users/user/memory', ['sessionId']],
  ];
  const request = fc
    .constantFrom(...requests)
    .chain(([method, target, keys]) =>
      fc.tuple(fc.constant(method), fc.constant(target), fc.dictionary(fc.constantFrom(...keys), anyValue)),
    );
  await fc.assert(
    fc.asyncProperty(request, async ([method, target, body]) => {
      const answer = await server.client.send(method, target, { body: JSON.stringify(body), headers: json });

      expect(answer).toBeAnyOf(planned);
    }),
    runs,
  );
});

it('answers odd names in every place of a path with a planned status', { timeout: 120_000 }, async () => {
  const pathOf = fc.constantFrom<((name: string) => string)[]>(
    (name) => `/apps/${name}/users/user/sessions`,
    (name) => `/apps/chat/users/${name}/sessions`,
    (name) => `/apps/chat/users/user/sessions/${name}`,
    (name) => `/apps/chat/users/user/sessions/${id}/artifacts/${name}`,
    (name) => `/apps/chat/users/user/sessions/${id}/artifacts/${name}/versions/${name}`,
    (name) => `/apps/chat/users/user/sessions/${id}/events/${name}/graph`,
    (name) => `/debug/trace/${name}`,
    (name) => `/dev/apps/${name}/build_graph_image?node=${name}`,
    (name) => `/dev-ui/${name}`,
    (name) => `/${name}`,
  );
  await fc.assert(
    fc.asyncProperty(
      pathOf,
      oddName,
      fc.boolean(),
      fc.constantFrom('GET', 'DELETE'),
      async (target, name, raw, method) => {
        const answer = await sendRaw(server.url, method, target(segment(name, raw)));

        expect([...planned, 301, 302, 307, 308]).toContain(answer.status);
      },
    ),
    runs,
  );
});

it('is well afterwards', async () => {
  const fresh = await newSession(server.client, 'chat');

  expect(await runEvents(server.client, runBody('chat', fresh.id, 'hi'))).toHaveLength(1);
  expect(server.process.stderr).not.toMatch(/"level":(50|60)\b|"level":"(error|fatal)"/);
});
