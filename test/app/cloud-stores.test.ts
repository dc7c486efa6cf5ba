import { expect, it, onTestFinished } from 'vitest';
import { FirestoreDouble } from '../support/firestore-double.ts';
import { type Ended, folderOf, mainFile, start } from '../support/program.ts';
import { AgentEngineDouble } from '../support/vertex-double.ts';

const agent = {
  'greeter/root_agent.yaml': 'name: greeter\nmodel: scripted\ninstruction: x\nscript: [{ text: "Hi!" }]\n',
};

/** The program with these variables, talking with the greeter or tending its stores. */
function program(env: readonly string[], args: readonly string[], cwd: string): Promise<Ended> {
  const started = start(args, { cwd, command: ['env', ...env, process.execPath, mainFile] });
  started.end('');
  return started.ended;
}

/** A store to run against: its URI, and the variables that lead to its double. */
interface Place {
  readonly uri: string;
  readonly env: readonly string[];
}

async function firestore(): Promise<Place> {
  const double = await FirestoreDouble.start();
  onTestFinished(() => double.close());
  return { uri: 'firestore://test', env: [`FIRESTORE_EMULATOR_HOST=${double.host}`] };
}

async function agentEngine(): Promise<Place> {
  const double = await AgentEngineDouble.start();
  onTestFinished(() => double.close());
  const project = ['GOOGLE_CLOUD_PROJECT=p', 'GOOGLE_CLOUD_LOCATION=eu'];
  return { uri: 'agentengine://5', env: [`GOOGLE_VERTEX_BASE_URL=${double.http.url}`, ...project] };
}

it.each([
  ['Firestore', firestore],
  ['an Agent Engine', agentEngine],
])('keeps a conversation in %s from one start to the next, and tends it there', async (_, open) => {
  const { uri, env } = await open();
  const cwd = folderOf(agent);
  const tend = (...args: string[]): Promise<Ended> => program(env, [...args, '--session-service', uri], cwd);
  const talk = (text: string): Promise<Ended> =>
    tend('run', 'greeter', '--agents', '.', '--message', text, '--session', 's1');

  expect(await talk('one')).toMatchObject({ code: 0, out: expect.stringContaining('Hi!') });
  expect(await talk('two')).toMatchObject({ code: 0 });

  expect(await tend('migrate')).toMatchObject({ code: 0, err: expect.stringContaining('is up to date') });
  const { session } = JSON.parse((await tend('export')).out) as {
    session: { events: { content: { parts: { text: string }[] } }[] };
  };
  expect(session.events.map(({ content }) => content.parts[0]?.text)).toEqual(['one', 'Hi!', 'two', 'Hi!']);
  expect((await tend('gc', '--session-ttl', '1ms')).err).toContain('1 sessions deleted');
  expect((await tend('export')).out).toBe('');
});

it.each(['firestore://test', 'agentengine://projects/p/locations/eu/reasoningEngines/5'])(
  'says that there is no credential for %s, and ends',
  async (uri) => {
    const env = ['METADATA_SERVER_DETECTION=none', 'HOME=/nowhere'];

    const ended = await program(env, ['migrate', '--session-service', uri], folderOf(agent));

    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('This machine has no Google credential') });
    expect(ended.err).not.toContain('    at ');
  },
);
