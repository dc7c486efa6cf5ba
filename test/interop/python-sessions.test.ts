import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { Event } from '../../src/schemas/event-schema.ts';
import { collectGarbage } from '../../src/services/retention.ts';
import { SqlSessions } from '../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../src/services/sqlite/database.ts';
import { AdkPython, noAdk, type PythonService } from './adk-python.ts';

const key = { appName: 'quick', userId: 'ada', sessionId: 's1' };
const pythonKey = { app_name: 'quick', user_id: 'ada', session_id: 's1' };
const { signal } = new AbortController();

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-interop-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'session.db');
}

function startPython(service: PythonService, path: string): AdkPython {
  const adk = new AdkPython(service, path);
  onTestFinished(() => adk.end());
  return adk;
}

function startOurs(path: string): SqlSessions {
  const sessions = new SqlSessions(new SqliteSessionTables(new SqliteDatabase(path)));
  onTestFinished(() => sessions.close());
  return sessions;
}

/** A turn of a conversation with what events have: in the spelling of both. */
const turn = (round: string): JsonObject[] => [
  { author: 'user', content: { role: 'user', parts: [{ text: `question ${round} 👋` }] } },
  {
    author: 'bot',
    content: {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { functionCall: { id: `c-${round}`, name: 'add_two', args: { first_number: 1, camelKey: { inner_key: 2 } } } },
      ],
    },
    longRunningToolIds: [`c-${round}`],
    usageMetadata: { totalTokenCount: 7, promptTokenCount: 3 },
    customMetadata: { my_key: [1], camelKey: 0.1 },
    modelVersion: 'm-1',
  },
  {
    author: 'bot',
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: `c-${round}`, name: 'add_two', response: { the_sum: 3, someKey: null } } }],
    },
    actions: {
      stateDelta: { [`mood_${round}`]: 'blue', 'app:theme': round, 'user:camelKey': { inner_key: round, n: 0.1 } },
      artifactDelta: { 'my_file.txt': 0 },
    },
  },
  {
    author: 'bot',
    branch: 'bot.sub',
    content: { role: 'model', parts: [{ text: 'three' }] },
    finishReason: 'STOP',
    turnComplete: true,
    groundingMetadata: { webSearchQueries: ['x'] },
    isolationScope: 'c-1',
    environmentId: 'env-1',
    interactionId: 'i-1',
    interactionStatus: 'IN_PROGRESS',
    liveSessionId: 'l-1',
    voiceActivity: { voiceActivityType: 'ACTIVITY_START' },
    actions: {
      transferToAgent: 'helper',
      transferReason: 'knows more',
      setModelResponse: { camelKey: 1, snake_key: { innerKey: 2 } },
      renderUiWidgets: [{ id: 'w', provider: 'mcp', payload: { camelKey: 1, snake_key: { innerKey: 2 } } }],
      agentState: { inner_key: 1, camelKey: 2 },
      route: 'left',
    },
    output: { camelKey: [{ snake_key: 1 }] },
  },
];

let made = 0;
const dated = (fields: JsonObject): JsonObject => {
  made += 1;
  return { ...fields, id: `event-${made}`, invocationId: `e-${made}`, timestamp: Date.now() / 1000 + 0.000_123 };
};

/** What both read of a session, without the empty values that Python gives its events when it reads them. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, field: unknown) => {
      if (name === 'nodeInfo' && JSON.stringify(field) === '{"path":""}') return undefined;
      const isEmpty = typeof field === 'object' && field !== null && Object.keys(field).length === 0;
      return isEmpty && name !== 'events' ? undefined : (field ?? undefined);
    }),
  ) as unknown;

describe.skipIf(noAdk !== undefined)('files of ADK for Python', { timeout: 60_000 }, () => {
  for (const service of ['sqlite', 'database'] as const) {
    it(`go from ${service} there to here and back, three rounds without a difference`, async () => {
      const path = place();
      const adk = startPython(service, path);
      await adk.create(pythonKey, { topic: 'looms', 'app:theme': 'light', 'user:name': 'Ada' }, []);
      const ours = startOurs(path);
      for (let round = 1; round <= 3; round += 1) {
        const theirs = await adk.append(pythonKey, turn(`p${round}`).map(dated));
        const read = await ours.getSession(key);
        expect(comparable(read)).toEqual(comparable(theirs));

        for (const fields of turn(`t${round}`).map(dated)) {
          await ours.appendEvent((await ours.getSession(key))!, Event.parse(fields));
        }
        const mine = await ours.getSession(key);
        expect(comparable(await adk.append(pythonKey, []))).toEqual(comparable(mine));
        expect(mine?.events).toHaveLength(round * 8);
        expect(mine?.events.map(({ id }) => id)).toEqual(
          mine?.events.toSorted((a, b) => a.timestamp - b.timestamp).map(({ id }) => id),
        );
        expect(await adk.list(pythonKey)).toEqual([[key.sessionId, mine?.lastUpdateTime]]);
      }
    });

    it(`${service}: sessions that began here are continued there, and what is young is kept`, async () => {
      const path = place();
      const adk = startPython(service, path);
      await adk.create(pythonKey, {}, []);
      const ours = startOurs(path);
      const begun = turn('a').map((fields) => Event.parse(dated(fields)));
      await ours.createSession(key, { sessionId: 'here', state: { x: 1 }, events: begun });

      const here = { ...pythonKey, session_id: 'here' };
      const theirs = await adk.append(here, turn('b').map(dated));

      expect(comparable(await ours.getSession({ ...key, sessionId: 'here' }))).toEqual(comparable(theirs));
      expect(theirs.events).toHaveLength(8);
      const collected = await collectGarbage({ sessions: ours }, { sessionTtlMs: 60_000 }, { signal });
      expect(collected.sessions).toEqual([]);
      await adk.delete(here);
      expect(await ours.getSession({ ...key, sessionId: 'here' })).toBeUndefined();
    });
  }
});
