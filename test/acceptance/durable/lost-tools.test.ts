import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { Replica } from './replicas.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entries = (diary: string): string[] =>
  existsSync(diary) ? readFileSync(diary, 'utf8').split('\n').filter(Boolean).toSorted() : [];

it('asks the model no second time after a crash in its tools, and runs them again under the same keys', async () => {
  const uri = `sqlite:${join(folder, 'tools.db')}`;
  const diary = join(folder, 'tools.txt');
  const first = await Replica.start(uri);
  const session = await first.newSession('worker');
  const { run } = await first.start(session, `work ${diary}`);
  await expect.poll(() => entries(diary).length).toBe(2);
  const before = entries(diary);
  first.signal('SIGKILL');
  const second = await Replica.start(uri);

  expect(await second.wait(session, run.id)).toMatchObject({ status: 'done' });
  expect(entries(diary)).toEqual([...before, ...before].toSorted());
  const { body } = await second.process.fetchJson(session);
  const { events } = body as { events: { content: { parts: Record<string, { id: string }>[] } }[] };
  const kinds = events.map(({ content }) => content.parts.map((part) => Object.keys(part)[0]));
  expect(kinds).toEqual([
    ['text'],
    ['functionCall', 'functionCall'],
    ['functionResponse', 'functionResponse'],
    ['text'],
  ]);
  const calls = events[1]!.content.parts.map((part) => part['functionCall']!.id);
  expect(events[2]!.content.parts.map((part) => part['functionResponse']!.id)).toEqual(calls);
  expect(before).toEqual([`one ${run.id}:${calls[0]!}`, `two ${run.id}:${calls[1]!}`]);
  await second.process.stop();
});

it('keeps a question to the user over a restart, and takes one yes of two', async () => {
  const uri = `sqlite:${join(folder, 'asked.db')}`;
  const diary = join(folder, 'asked.txt');
  const first = await Replica.start(uri);
  const session = await first.newSession('worker');
  const { run } = await first.start(session, `sign ${diary}`);
  const waiting = await first.wait(session, run.id);
  expect(waiting).toMatchObject({ status: 'waiting', openCalls: [{ name: 'adk_request_confirmation' }] });
  first.signal('SIGKILL');
  await pause(50);
  const second = await Replica.start(uri);
  expect(await second.run(session, run.id)).toMatchObject({ status: 'waiting' });

  const { id, name } = waiting.openCalls![0]!;
  const response = { functionResponse: { id, name, response: { confirmed: true } } };
  const yes = { newMessage: { role: 'user', parts: [response] } };
  const answers = await Promise.all([second.start(session, '', yes), second.start(session, '', yes)]);
  await Promise.all(answers.map((answer) => second.wait(session, answer.run.id)));

  expect(entries(diary)).toHaveLength(1);
  expect(await second.run(session, run.id)).toMatchObject({ status: 'done' });
  await second.process.stop();
});
