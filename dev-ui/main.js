import { createSession, listApps, listSessions, readSession, readVersion, run } from './api.js';
import { Transcript } from './transcript.js';

const byId = (id) => document.getElementById(id);
const transcript = new Transcript(byId('log'));
const message = byId('message');

/** Where we are; the address shows the same. */
let app;
let session;
/** Stops the run in progress; absent when there is none. */
let running;

const titleOf = ({ id, state }) => state.__session_metadata__?.displayName || `Session ${id.slice(0, 8)}`;

const showEntries = (list, entries, onChoose) => {
  list.replaceChildren(
    ...entries.map(({ name, label, note, current }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.title = label;
      button.setAttribute('aria-current', String(current));
      button.addEventListener('click', () => onChoose(name));
      const item = document.createElement('li');
      item.append(button);
      if (note) item.append(Object.assign(document.createElement('p'), { className: 'meta', textContent: note }));
      return item;
    }),
  );
};

const showAddress = () => {
  const url = new URL(location.href);
  for (const [key, value] of Object.entries({ app, session: session?.id })) {
    if (value) url.searchParams.set(key, value);
    else url.searchParams.delete(key);
  }
  history.replaceState(undefined, '', url);
};

const showState = () => {
  byId('title').textContent = session ? titleOf(session) : (app ?? 'Choose an app');
  message.disabled = !app;
  byId('send').disabled = !app || Boolean(running);
  byId('stop').hidden = !running;
  byId('new-session').disabled = !app;
  byId('status').textContent = running ? 'The agent is working …' : '';
  showAddress();
};

const report = (error) => transcript.fail(error.message);

const showApps = async () => {
  const apps = await listApps();
  showEntries(
    byId('apps'),
    apps.map(({ name, description, error }) => ({
      name,
      label: name,
      note: error ?? description,
      current: name === app,
    })),
    (name) => openApp(name).catch(report),
  );
  return apps;
};

const showSessions = async () => {
  const sessions = app ? await listSessions(app) : [];
  sessions.sort((a, b) => b.lastUpdateTime - a.lastUpdateTime);
  showEntries(
    byId('sessions'),
    sessions.map((one) => ({ name: one.id, label: titleOf(one), current: one.id === session?.id })),
    (id) => openSession(id).catch(report),
  );
};

const startAfresh = async () => {
  running?.abort();
  session = undefined;
  transcript.clear();
  showState();
  await showSessions();
  message.focus();
};

const openApp = async (name) => {
  app = name;
  await startAfresh();
  await showApps();
};

const openSession = async (id) => {
  running?.abort();
  session = await readSession(app, id);
  transcript.clear();
  for (const event of session.events) transcript.add(event);
  showState();
  await showSessions();
};

const ask = async (text) => {
  const stop = new AbortController();
  running = stop;
  transcript.add({ author: 'user', content: { parts: [{ text }] } });
  showState();
  try {
    if (!session) {
      session = await createSession(app, text);
      showState();
      await showSessions();
    }
    for await (const event of run({ app, session: session.id, text, signal: stop.signal })) {
      if (stop.signal.aborted) return;
      if (event.error) transcript.fail(event.error);
      else transcript.add(event);
    }
  } catch (error) {
    if (!stop.signal.aborted) report(error);
  } finally {
    if (running === stop) {
      running = undefined;
      showState();
      byId('status').textContent = stop.signal.aborted ? 'Stopped' : 'Answer complete';
    }
  }
};

byId('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = message.value.trim();
  if (!text || !app || running) return;
  message.value = '';
  void ask(text); // it reports its own failures
});

message.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  byId('composer').requestSubmit();
});

byId('stop').addEventListener('click', () => running?.abort());
byId('new-session').addEventListener('click', () => void startAfresh().catch(report));

const begin = async () => {
  const wanted = new URL(location.href).searchParams;
  const { version } = await readVersion();
  byId('version').textContent = version;
  const apps = await showApps();
  const name = wanted.get('app') ?? (apps.length === 1 ? apps[0].name : undefined);
  if (!apps.some((one) => one.name === name)) return showState();
  const id = wanted.get('session');
  await openApp(name);
  if (id) await openSession(id);
};

begin().catch(report);
