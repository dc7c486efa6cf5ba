import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Replica } from '../acceptance/durable/replicas.ts';

// Runs where it may mount what it likes: makes a disk, writes to it through a server, makes it read-only, and tells what
// servers answer then.

const [, , disk = '', ending = ''] = process.argv;

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync('mount', [...args, disk], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const start = (): Promise<Replica> => Replica.start(`sqlite:${join(disk, 'data.db')}`);
const say = (fact: object): boolean => process.stdout.write(`${JSON.stringify(fact)}\n`);

mount('-t', 'tmpfs', 'none');
const first = await start();
const session = await first.newSession('counter');
const { run } = await first.start(session, '+');
await first.wait(session, run.id);
if (ending === 'killed') {
  first.signal('SIGKILL');
  await first.process.stop().catch(() => {});
} else {
  await first.process.stop();
}
mount('-o', 'remount,ro');

const second = await start();
const events = async (): Promise<number | undefined> => {
  const { body } = await second.process.fetchJson(session);
  return (body as { events?: unknown[] }).events?.length;
};
say({ reading: await events(), state: await second.state(session), run: (await second.run(session, run.id)).status });
const refused = [
  await second.process.fetchJson(`${session}/runs`, { json: { newMessage: { parts: [{ text: '+' }] } } }),
  await second.process.fetchJson('/apps/counter/users/u/sessions', { json: {} }),
  await second.process.fetchJson(session, { method: 'DELETE' }),
  await second.process.fetchJson('/ready'),
];
say({ refused: refused.map(({ status, headers }) => [status, headers.get('retry-after') !== null]) });
say({ readingStill: await events() });

mount('-o', 'remount,rw');
const again = (await second.start(session, '+')).run;
await second.wait(session, again.id);
say({ writing: await events(), state: await second.state(session) });
say({ end: await second.process.stop() });
