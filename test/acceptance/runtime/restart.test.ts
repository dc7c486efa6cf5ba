import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ServerProcess } from '../../support/server.ts';
import { authorizationServer } from '../../tools/auth/authorization-server.ts';
import { Conversation } from '../real-input/conversation.ts';
import { agents, doubleKey, openBed } from './bed.ts';
import { answerTo, askedIn, responsesIn } from './requests.ts';

const bed = await openBed();

/** Starts servers over one database, each after the one before was killed. */
async function oneAfterAnother(more: Record<string, string> = {}): Promise<() => Promise<ServerProcess>> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-restart-'));
  const flags = ['--session-service', `sqlite:${join(folder, 'data.db')}`];
  const env = { GOOGLE_GEMINI_BASE_URL: bed.double.url, GOOGLE_API_KEY: doubleKey, ...more };
  let last: ServerProcess | undefined;
  onTestFinished(async () => {
    await last?.stop();
    await rm(folder, { recursive: true });
  });
  return async () => {
    if (last) process.kill(last.pid!, 'SIGKILL');
    return (last = await ServerProcess.start({ agents, env, flags }));
  };
}

it('takes answers to questions that another process asked', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'pay', args: { amount: 7 } }] });
  const start = await oneAfterAnother();
  const chat = await Conversation.open(await start(), 'guarded');
  const [asked] = askedIn(await chat.say('pay'));
  const session = await chat.session();

  const later = Conversation.resume(await start(), session);
  bed.double.answer(() => 'paid');
  const events = await later.say(answerTo(asked!, { confirmed: true }));

  expect(responsesIn(events)).toEqual([{ paid: 7, count: 1 }]);
  expect(responsesIn(await later.say(answerTo(asked!, { confirmed: true })))).toEqual([]);
});

it('takes input, a credential and a long-running answer that another process waited for', async () => {
  const names = ['adk_request_input', 'weather', 'start_job'];
  bed.double.answerInTurn(...names.map((name) => ({ calls: [{ name, args: { message: 'Who?' } }] })));
  const start = await oneAfterAnother();
  const first = await start();
  const chats = [];
  for (const name of names) {
    const chat = await Conversation.open(first, 'asking');
    const events = await chat.say(name);
    chats.push({ events, session: await chat.session() });
  }
  bed.double.answer(() => 'thanks');
  const [input, credential, job] = chats;

  const server = await start();
  const later = Conversation.resume(server, input!.session);
  const named = await later.say(answerTo(askedIn(input!.events)[0]!, { result: 'Ada' }));
  const second = Conversation.resume(server, credential!.session);
  const [asked] = askedIn(credential!.events);
  const config = {
    ...(asked!.args['authConfig'] as object),
    exchangedAuthCredential: { authType: 'apiKey', apiKey: 'k' },
  };
  const shown = await second.say(answerTo(asked!, config));
  const third = Conversation.resume(server, job!.session);
  const call = job!.events[0]?.content?.parts?.[0]?.functionCall;
  const done = await third.say(answerTo({ id: call?.id ?? '', name: 'start_job' }, { done: true }));

  expect([named, done].map((events) => events.length)).toEqual([1, 1]);
  expect(responsesIn(shown)).toEqual([{ key: 'k' }]);
});

it('trades a code that the user was sent for by a server that was killed since', async () => {
  const oauth = await authorizationServer();
  const start = await oneAfterAnother({ OAUTH_URL: oauth.url });
  bed.double.answerInTurn({ calls: [{ name: 'calendar' }] });
  const chat = await Conversation.open(await start(), 'asking');
  const [asked] = askedIn(await chat.say('go'));
  const session = await chat.session();

  const second = await start();
  const config = asked!.args['authConfig'] as { exchangedAuthCredential: { oauth2: { authUri: string } } };
  const { oauth2 } = config.exchangedAuthCredential;
  const granted = { ...oauth2, authResponseUri: oauth.consent(oauth2.authUri) };
  bed.double.answer(() => 'thanks');
  const later = Conversation.resume(second, session);
  const events = await later.say(
    answerTo(asked!, { ...config, exchangedAuthCredential: { authType: 'oauth2', oauth2: granted } }),
  );

  expect(responsesIn(events)).toEqual([{ granted: true }]);
  expect(oauth.requests).toHaveLength(1);
  expect(JSON.stringify(await later.session())).not.toMatch(/hush-hush|access-/);
});
