/** Requests of the ADK wire, as bytes that are made before the clock starts. */

const USER = 'bench';

export const sessionPath = (app: string, session: string): string => `/apps/${app}/users/${USER}/sessions/${session}`;

export const get = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);

export const post = (path: string, body: unknown): Buffer => {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
};

export const createSession = (app: string, session: string): Buffer => post(sessionPath(app, session), {});

const message = (text: string): unknown => ({ role: 'user', parts: [{ text }] });

/** A run that answers with all its events at once. */
export const run = (app: string, session: string, text = 'Hello, how are you today?'): Buffer =>
  post('/run', { appName: app, userId: USER, sessionId: session, newMessage: message(text) });

/** A run that streams its partial events. */
export const runSse = (app: string, session: string, text = 'Tell me a story.'): Buffer =>
  post('/run_sse', { appName: app, userId: USER, sessionId: session, newMessage: message(text), streaming: true });

/** Where a session is talked with. */
export const livePath = (app: string, session: string): string =>
  `/run_live?app_name=${app}&user_id=${USER}&session_id=${session}&modalities=TEXT`;
