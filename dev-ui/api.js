/** Talks to the server this page came from. Every failure is an Error whose message can be shown. */

const userId = 'user';
const base = new URL('..', document.baseURI);

const request = async (path, options = {}) => {
  let response;
  try {
    response = await fetch(new URL(path, base), options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The server cannot be reached', { cause: error });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The server answered ${response.status}`);
};

const get = async (path) => (await request(path)).json();

const send = (method, path, body, signal) =>
  request(path, { method, signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const sessionsPath = (app) => `apps/${encodeURIComponent(app)}/users/${userId}/sessions`;

export const readVersion = () => get('version');

export const listApps = async () => (await get('list-apps?detailed=true')).apps;

export const listSessions = (app) => get(sessionsPath(app));

export const readSession = (app, id) => get(`${sessionsPath(app)}/${encodeURIComponent(id)}`);

export const createSession = async (app, title) => {
  const state = { __session_metadata__: { displayName: title.slice(0, 50) } };
  return (await send('POST', sessionsPath(app), { state })).json();
};

/** Runs the app's agent and yields its events as they arrive. */
export async function* run({ app, session, text, signal }) {
  const body = {
    appName: app,
    userId,
    sessionId: session,
    streaming: true,
    newMessage: { role: 'user', parts: [{ text }] },
  };
  const response = await send('POST', 'run_sse', body, signal);
  let rest = '';
  for await (const piece of textOf(response.body)) {
    const frames = (rest + piece).split('\n\n');
    rest = frames.pop();
    for (const frame of frames) {
      if (frame.startsWith('data: ')) yield JSON.parse(frame.slice(6));
    }
  }
}

async function* textOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    reader.cancel().catch(() => {}); // the stream is over or broken already
  }
}
