import { expect, it, onTestFinished } from 'vitest';
import { lastResponses, transcript } from '../../support/gemini-request.ts';
import { ServerProcess } from '../../support/server.ts';
import { authorizationServer } from '../../tools/auth/authorization-server.ts';
import { Conversation, outline } from '../real-input/conversation.ts';
import { agents, doubleKey, openBed } from './bed.ts';
import { answerTo, type Asked, askedIn, responsesIn } from './requests.ts';

const bed = await openBed();

interface Shown {
  readonly exchangedAuthCredential: { readonly authType: string; readonly oauth2: { readonly authUri: string } };
}

async function asked(chat: Conversation, tool: string, args = {}): Promise<Asked> {
  bed.double.answerInTurn({ calls: [{ name: tool, args }] }, 'thanks');
  const [question] = askedIn(await chat.say('go'));
  if (!question) throw new Error('Nothing was asked');
  return question;
}

it('asks the user for input and lets the model go on with it', async () => {
  const chat = await bed.chat('asking');
  const question = await asked(chat, 'adk_request_input', {
    message: 'Your name?',
    response_schema: { type: 'string' },
  });

  const events = await chat.say(answerTo(question, { result: 'Ada' }));

  expect(question.args).toMatchObject({ message: 'Your name?' });
  expect(outline(events)).toEqual(['asking: thanks']);
  expect(JSON.stringify(bed.double.bodies[1]?.contents)).toContain('Ada');
});

it('asks for an API key and runs the call again with it, which is stored nowhere', async () => {
  const chat = await bed.chat('asking');
  const question = await asked(chat, 'weather');
  const exchangedAuthCredential = { authType: 'apiKey', apiKey: 'key-of-ada' };

  const events = await chat.say(
    answerTo(question, { ...(question.args['authConfig'] as object), exchangedAuthCredential }),
  );

  expect(responsesIn(events)).toEqual([{ key: 'key-of-ada' }]);
  expect(outline(events)).toEqual(['asking: response weather', 'asking: thanks']);
  expect(JSON.stringify((await chat.session()).state)).not.toContain('key-of-ada');
});

it('takes a bearer token under the names Python gives it', async () => {
  const chat = await bed.chat('asking');
  const question = await asked(chat, 'mail');

  const exchanged_auth_credential = { auth_type: 'http', http: { scheme: 'bearer', credentials: { token: 't-1' } } };
  const events = await chat.say(answerTo(question, { exchanged_auth_credential }));

  expect(responsesIn(events)).toEqual([{ token: 't-1' }]);
});

it('uses a credential of its own without asking, and shows it nowhere', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'own' }] }, 'ok');
  const chat = await bed.chat('asking');

  const events = await chat.say('go');

  expect(responsesIn(events)).toEqual([{ fits: true }]);
  expect(JSON.stringify(await chat.session())).not.toContain('own-key');
});

it('goes through an OAuth2 code flow with another server, once for a user', async () => {
  const oauth = await authorizationServer();
  const server = await ServerProcess.start({
    agents,
    env: { GOOGLE_GEMINI_BASE_URL: bed.double.url, GOOGLE_API_KEY: doubleKey, OAUTH_URL: oauth.url },
  });
  onTestFinished(() => void server.stop());
  const chat = await Conversation.open(server, 'asking', { userId: 'ada' });
  const question = await asked(chat, 'calendar');
  const config = question.args['authConfig'] as Shown;
  const { authUri } = config.exchangedAuthCredential.oauth2;

  const oauth2 = { ...config.exchangedAuthCredential.oauth2, authResponseUri: oauth.consent(authUri) };
  const events = await chat.say(
    answerTo(question, { ...config, exchangedAuthCredential: { authType: 'oauth2', oauth2 } }),
  );
  bed.double.answerInTurn({ calls: [{ name: 'calendar' }] }, 'thanks');
  const again = await (await Conversation.open(server, 'asking', { userId: 'ada' })).say('again');

  expect(Object.fromEntries(new URL(authUri).searchParams)).toMatchObject({
    client_id: 'client-1',
    response_type: 'code',
    scope: 'read',
    redirect_uri: 'http://localhost:8080/dev-ui/',
    state: expect.any(String),
  });
  expect(responsesIn(events)).toEqual([{ granted: true }]);
  expect(responsesIn(again)).toEqual([{ granted: true }]);
  expect(oauth.requests).toHaveLength(1);
  expect(JSON.stringify(await chat.session())).not.toMatch(/hush-hush|access-/);
});

it('tells the model when a code is refused, and serves the session on', async () => {
  const oauth = await authorizationServer();
  const server = await ServerProcess.start({
    agents,
    env: { GOOGLE_GEMINI_BASE_URL: bed.double.url, GOOGLE_API_KEY: doubleKey, OAUTH_URL: oauth.url },
  });
  onTestFinished(() => void server.stop());
  const chat = await Conversation.open(server, 'asking');
  const question = await asked(chat, 'calendar');
  const config = question.args['authConfig'] as Shown;
  const back = new URL(oauth.consent(config.exchangedAuthCredential.oauth2.authUri));
  back.searchParams.set('state', 'of-somebody-else');

  const oauth2 = { ...config.exchangedAuthCredential.oauth2, authResponseUri: back.href };
  await chat.run(answerTo(question, { ...config, exchangedAuthCredential: { authType: 'oauth2', oauth2 } }));

  expect(oauth.requests).toEqual([]);
  bed.double.answer(() => 'still here');
  expect(outline(await chat.say('hello?')).at(-1)).toBe('asking: still here');
});

it('lets the model speak about a long-running tool that has begun, and takes its answers later', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'start_ticket' }] }, 'opened', 'half done', 'done');
  const chat = await bed.chat('asking');
  const events = await chat.say('open one');
  const call = events[0]?.content?.parts?.[0]?.functionCall;
  const about = { id: call?.id ?? '', name: 'start_ticket' };

  await chat.say(answerTo(about, { progress: 50 }));
  const last = await chat.say(answerTo(about, { progress: 100 }));

  expect(outline(events)).toEqual(['asking: call start_ticket', 'asking: response start_ticket', 'asking: opened']);
  expect(events[0]?.longRunningToolIds).toEqual([call?.id]);
  expect(lastResponses(bed.double.bodies[1]!)).toMatchObject([{ response: { ticket: 'T-1' } }]);
  expect(transcript(bed.double.bodies[3]!).filter((line) => line.includes('response'))).toEqual([
    'user: response start_ticket {"progress":100}',
  ]);
  expect(outline(last)).toEqual(['asking: done']);
});

it('waits for a long-running tool that says nothing yet, beside one that answers', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'start_job' }, { name: 'own' }] }, 'meanwhile', 'done');
  const chat = await bed.chat('asking');

  const events = await chat.say('go');

  expect(responsesIn(events)).toEqual([{ fits: true }]);
  const job = events[0]?.content?.parts?.[0]?.functionCall;
  bed.double.answer(() => 'done');
  expect(outline(await chat.say(answerTo({ id: job?.id ?? '', name: 'start_job' }, { ok: true })))).toEqual([
    'asking: done',
  ]);
  const paired = bed.double.bodies.at(-1)?.contents?.[2]?.parts?.map((part) => part.functionResponse?.response);
  expect(paired).toEqual([{ ok: true }, { fits: true }]);
});
