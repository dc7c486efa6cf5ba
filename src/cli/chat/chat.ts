import { resolve } from 'node:path';
import { provideAgentImports } from '../../app/agent-imports.ts';
import type { Config } from '../../app/config.ts';
import type { Engine } from '../../app/engine.ts';
import { AppError, errorText } from '../../base/errors.ts';
import { isFolder } from '../../loaders/agent-folders.ts';
import { nameFault } from '../../schemas/names.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { checkApp, engineFor, onlyApp, placeOf } from '../terminal-engine.ts';
import { UsageError } from '../usage-error.ts';
import { Conversation } from './conversation.ts';
import { readReplayScript } from './replay-script.ts';

export interface ChatOptions {
  /** The app's name, or its folder. */
  readonly app: string | undefined;
  readonly flags: ReadonlyMap<string, string | true>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Chats with one app in the terminal. Resolves with the exit code. Throws UsageError for an app or folder that does not exist. */
export async function chat(config: Config, { app, flags, env, cwd }: ChatOptions): Promise<number> {
  const text = (flag: string): string | undefined => {
    const value = flags.get(flag);
    return typeof value === 'string' ? value : undefined;
  };
  const place = placeOf(config, app, cwd);
  const replay = text('replay');
  const replayDir = replay === undefined ? undefined : resolve(cwd, replay);
  if (replayDir !== undefined && !isFolder(replayDir)) throw new UsageError(`There is no folder "${replay ?? ''}"`);
  const script = replayDir === undefined ? undefined : readReplayScript(replayDir);

  provideAgentImports();
  const engine = engineFor({ ...place.config, ...(replayDir !== undefined && { cassettes: replayDir }) }, env);
  const key = {
    appName: place.app ?? onlyApp(engine),
    userId: text('user') ?? 'user',
    sessionId: text('session') ?? crypto.randomUUID(),
  };
  checkNames(key, engine);
  const conversation = new Conversation({ engine, key, replayDir });
  try {
    const events = await openSession(engine, key, script?.initialState ?? {});
    const message = text('message');
    if (message !== undefined) return await conversation.sayOnce(message);
    if (script) return await conversation.play(script);
    if (conversation.isTerminal) {
      const story = events > 0 ? `continues after ${events} events` : 'is new';
      conversation.note(`${key.appName}: session ${key.sessionId} ${story}. Ctrl-C stops an answer, Ctrl-D leaves.`);
    }
    return await conversation.talk();
  } catch (error) {
    // The app cannot be loaded, or the session cannot be opened.
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(`${errorText(error)}\n`);
    return 1;
  } finally {
    conversation.close();
    await engine.runs.drain(0);
    await engine.runner.close();
    await engine.databases.close();
  }
}

function checkNames(key: SessionKey, engine: Engine): void {
  checkApp(key.appName, engine);
  for (const [flag, name] of [
    ['--user', key.userId],
    ['--session', key.sessionId],
  ] as const) {
    const fault = nameFault(name);
    if (fault !== undefined) throw new UsageError(`${flag} ${fault}`);
  }
}

/** Creates the session unless it exists, and returns the number of its events. Throws why the app cannot be loaded. */
async function openSession(engine: Engine, key: SessionKey, state: Record<string, unknown>): Promise<number> {
  const { sessions } = engine.services;
  await engine.loader.loadAgent(key.appName);
  const known = await sessions.getSession(key);
  if (known) return known.events.length;
  await sessions.createSession(key, { sessionId: key.sessionId, state });
  return 0;
}
