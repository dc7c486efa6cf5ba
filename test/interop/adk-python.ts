import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/base/json.ts';
import type { Session } from '../../src/schemas/session.ts';

const python = process.env['ADK_PYTHON'] ?? 'python3';
const probe = spawnSync(python, ['-c', 'import google.adk.sessions.database_session_service'], { stdio: 'pipe' });

/** Why there is no ADK for Python to try; `undefined` when there is. */
export const noAdk =
  probe.status === 0
    ? undefined
    : `"${python}" has no google-adk[db]: ADK_PYTHON names one (python3 -m venv DIR; DIR/bin/pip install 'google-adk[db]')`;
if (noAdk !== undefined) console.warn(`Tests with ADK for Python are skipped: ${noAdk}`);

/** `adk web` keeps sessions with the first; the second is what other databases are kept with. */
export type PythonService = 'sqlite' | 'database';

export interface PythonKey {
  readonly app_name: string;
  readonly user_id: string;
  readonly session_id: string;
}

/** A program in Python that has a session service of ADK open on a file. */
export class AdkPython {
  readonly #program;
  readonly #lines;

  constructor(service: PythonService, path: string) {
    const script = fileURLToPath(new URL('adk_sessions.py', import.meta.url));
    this.#program = spawn(python, ['-W', 'ignore', script, service, path], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#lines = createInterface({ input: this.#program.stdout })[Symbol.asyncIterator]();
  }

  create(key: PythonKey, state: JsonObject, events: readonly object[]): Promise<Session> {
    return this.#ask<Session>({ do: 'create', key, state, events });
  }

  /** The session as Python reads it, after it has appended these. */
  append(key: PythonKey, events: readonly object[]): Promise<Session> {
    return this.#ask<Session>({ do: 'append', key, events });
  }

  list(key: PythonKey): Promise<[string, number][]> {
    return this.#ask<[string, number][]>({ do: 'list', key });
  }

  delete(key: PythonKey): Promise<void> {
    return this.#ask<void>({ do: 'delete', key });
  }

  end(): void {
    this.#program.stdin.end();
  }

  async #ask<Answer>(command: object): Promise<Answer> {
    this.#program.stdin.write(`${JSON.stringify(command)}\n`);
    const line = await this.#lines.next();
    if (line.done) throw new Error('Python ended');
    const answer = JSON.parse(line.value) as { value: Answer } | { error: string };
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }
}
