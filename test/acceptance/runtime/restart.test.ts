import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ServerProcess } from '../../support/server.ts';
import { authorizationServer } from '../../tools/auth/authorization-server.ts';
import { Conversation, type WireSession } from '../real-input/conversation.ts';
import { agents, doubleKey, openBed } from './bed.ts';
import { answerTo, askedIn, responsesIn } from './requests.ts';

const bed = await openBed();

/** The session in another server process, which knows of it only what the first one gave out. */
async function elsewhere(session: WireSession): Promise<Conversation> {
  const env = { GOOGLE_GEMINI_BASE_URL: bed.double.url, GOOGLE_API_KEY: doubleKey };
  const server = await ServerProcess.start({ agents, env });
  onTestFinished(() => void server.stop());
  const { appName, userId, id: sessionId, events } = session;
  const path = `/apps/${appName}/users/${userId}/sessions`;
  const { status, text } = await server.fetchJson(path, { json: { sessionId, events } });
  if (status !== 200) throw new Error(text);
  return Conversation.resume(server, { appName, userId, id: sessionId });
}

it('takes answers to questions that another process asked', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'pay', args: { amount: 7 } }] });
  const chat = await bed.chat('guarded');
  const [asked] = askedIn(await chat.say('pay'));

  const later = await elsewhere(await chat.session());
  bed.double.answer(() => 'paid');
  const events = await later.say(answerTo(asked!, { confirmed: true }));

  expect(responsesIn(events)).toEqual([{ paid: 7, count: 1 }]);
  expect(responsesIn(await later.say(answerTo(asked!, { confirmed: true })))).toEqual([]);
});

it('takes input, a credential and a long-running answer that another process waited for', async () => {
  const names = ['adk_request_input', 'weather', 'start_job'];
  bed.double.answerInTurn(...names.map((name) => ({ calls: [{ name, args: { message: 'Who?' } }] })));
  const chats = [];
  for (const name of names) {
    const chat = await bed.chat('asking');
    chats.push({ chat, events: await chat.say(name) });
  }
  bed.double.answer(() => 'thanks');
  const [input, credential, job] = chats;

  const later = await elsewhere(await input!.chat.session());
  const named = await later.say(answerTo(askedIn(input!.events)[0]!, { result: 'Ada' }));
  const second = await elsewhere(await credential!.chat.session());
  const [asked] = askedIn(credential!.events);
  const config = {
    ...(asked!.args['authConfig'] as object),
    exchangedAuthCredential: { authType: 'apiKey', apiKey: 'k' },
  };
  const shown = await second.say(answerTo(asked!, config));
  const third = await elsewhere(await job!.chat.session());
  const call = job!.events[0]?.content?.parts?.[0]?.functionCall;
  const done = await third.say(answerTo({ id: call?.id ?? '', name: 'start_job' }, { done: true }));

  expect([named, done].map((events) => events.length)).toEqual([1, 1]);
  expect(responsesIn(shown)).toEqual([{ key: 'k' }]);
});

it('trades a code that the user was sent for by a server that was killed since', async () => {
  const oauth = await authorizationServer();
  const folder = await mkdtemp(join(tmpdir(), 'agent-restart-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { GOOGLE_GEMINI_BASE_URL: bed.double.url, GOOGLE_API_KEY: doubleKey, OAUTH_URL: oauth.url };
  const flags = ['--session-service', `sqlite:${join(folder, 'data.db')}`];
  const first = await ServerProcess.start({ agents, env, flags });
  bed.double.answerInTurn({ calls: [{ name: 'calendar' }] });
  const chat = await Conversation.open(first, 'asking');
  const [asked] = askedIn(await chat.say('go'));
  const { appName, userId, id } = await chat.session();
  process.kill(first.pid!, 'SIGKILL');

  const second = await ServerProcess.start({ agents, env, flags });
  onTestFinished(() => void second.stop());
  const config = asked!.args['authConfig'] as { exchangedAuthCredential: { oauth2: { authUri: string } } };
  const { oauth2 } = config.exchangedAuthCredential;
  const granted = { ...oauth2, authResponseUri: oauth.consent(oauth2.authUri) };
  bed.double.answer(() => 'thanks');
  const later = Conversation.resume(second, { appName, userId, id });
  const events = await later.say(
    answerTo(asked!, { ...config, exchangedAuthCredential: { authType: 'oauth2', oauth2: granted } }),
  );

  expect(responsesIn(events)).toEqual([{ granted: true }]);
  expect(oauth.requests).toHaveLength(1);
  expect(JSON.stringify(await later.session())).not.toMatch(/hush-hush|access-/);
});
