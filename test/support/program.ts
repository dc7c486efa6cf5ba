import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The build, as users run it: `shared.setup.ts` makes it before any test. */
export const mainFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  /** What it has said so far. */
  readonly out: () => string;
  readonly ended: Promise<Ended>;
  type(text: string): void;
  /** The last of its input. */
  end(text: string): void;
  signal(name: NodeJS.Signals): void;
  /** Leaves what it says unread from now on. */
  stopReading(): void;
  /** Resolves once it says the text, after what it was waited for before; throws with the output when it ends instead. */
  says(text: string): Promise<void>;
}

/** The program in a process of its own, its input a pipe that stays open. */
export function start(args: readonly string[], options: { cwd?: string; command?: readonly string[] } = {}): Started {
  const [file = process.execPath, ...before] = options.command ?? [process.execPath, mainFile];
  const child = spawn(file, [...before, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TERM: 'xterm' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  let heard = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {}); // it may end before it has read everything
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  return {
    out: () => out,
    ended,
    type: (text) => void child.stdin.write(text),
    end: (text) => void child.stdin.end(text),
    signal: (name) => void child.kill(name),
    stopReading: () => void child.stdout.destroy(),
    async says(text) {
      let isOver = false;
      void ended.then(() => (isOver = true));
      while (!out.includes(text, heard)) {
        if (isOver) throw new Error(`It ended without saying "${text}":\n${out}\n${err}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
      heard = out.indexOf(text, heard) + text.length;
    },
  };
}

/** Runs the program to its end, with all of its input at once. */
export function run(
  args: readonly string[],
  { input = '', cwd }: { input?: string; cwd?: string } = {},
): Promise<Ended> {
  const program = start(args, cwd === undefined ? {} : { cwd });
  program.end(input);
  return program.ended;
}

/** A folder with these files, gone after the test. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
