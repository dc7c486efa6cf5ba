import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import type { AskModel, ModelQuestion } from './metrics/ask-model.ts';

const fileName = 'judge-answers.json';
const Answers = z.record(z.string(), z.string());

/** The answers of judges and simulated users, by question. Stored next to the cassette of a case. */
export interface RecordedAnswers {
  readonly ask: AskModel;
  /** Writes the recorded answers; does nothing when replaying. */
  save(): Promise<void>;
}

/** Calls the model and records its answers. */
export function recordAnswers(dir: string, ask: AskModel): RecordedAnswers {
  const answers = new Map<string, string>();
  return {
    async ask(question, signal) {
      const answer = await ask(question, signal);
      answers.set(keyOf(question), answer);
      return answer;
    },
    async save() {
      if (answers.size === 0) return;
      await mkdir(dir, { recursive: true });
      const draft = join(dir, `.draft-${randomUUID()}`);
      try {
        const sorted = Object.fromEntries([...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)));
        await writeFile(draft, `${JSON.stringify(sorted, null, 2)}\n`, { flag: 'wx' });
        await rename(draft, join(dir, fileName));
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

/** Answers from the recording, without calling a model. Throws for a question that was not recorded. */
export function replayAnswers(dir: string): RecordedAnswers {
  let reading: Promise<Record<string, string>> | undefined;
  return {
    async ask(question) {
      reading ??= readAnswers(dir);
      const answer = (await reading)[keyOf(question)];
      if (answer !== undefined) return answer;
      throw new AppError('ConfigurationException', `no answer of model "${question.model}" was recorded for this`);
    },
    save: async () => {},
  };
}

async function readAnswers(dir: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(join(dir, fileName), 'utf8');
  } catch {
    return {}; // recorded without a judge
  }
  try {
    return Answers.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError('ConfigurationException', `${fileName} of the cassette cannot be read: ${errorText(error)}`);
  }
}

function keyOf({ model, prompt, config, sample }: ModelQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([model, prompt, config ?? {}, sample]))
    .digest('hex');
}
