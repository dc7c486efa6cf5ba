import { basename } from 'node:path';
import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import { type EvalCase, EvalSet } from '../schemas/evaluation/eval-set.ts';
import type { EvalFiles } from './eval-files.ts';
import { legacySet } from './legacy-sets.ts';
import { withSnakeCaseKeys } from './snake-case-keys.ts';

/** ADK's rule for the ids of new sets; existing files with other names can be read. */
const setIdPattern = /^[A-Za-z0-9_]+$/;
const maxSetIdLength = 200;
/** Cases per set: a set is read, validated and written as a whole. */
const maxCases = 5_000;

/** The evaluation sets of apps. Changes to one set run one after the other. */
export class EvalSets {
  readonly #files: EvalFiles;
  /** The last change in progress, by app and set. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(files: EvalFiles) {
    this.#files = files;
  }

  list(appName: string): Promise<string[]> {
    return this.#files.list(appName, 'set');
  }

  /** Throws `eval_not_found`, and `invalid_request` for an invalid file. */
  async get(appName: string, setId: string): Promise<EvalSet> {
    const text = await this.#files.read(appName, 'set', setId);
    if (text === undefined) throw setNotFound(setId);
    return parseEvalSet(text, setId);
  }

  /** Throws `eval_exists`, `too_large`, and `invalid_request` for an id other than letters, digits and `_`. */
  create(appName: string, set: EvalSet): Promise<EvalSet> {
    const { evalSetId } = set;
    if (!setIdPattern.test(evalSetId) || evalSetId.length > maxSetIdLength) {
      throw new AppError(
        'invalid_request',
        `"${evalSetId}" cannot name an evaluation set: use up to ${maxSetIdLength} letters, digits and "_"`,
      );
    }
    const known = new Set<string>();
    for (const { evalId } of set.evalCases) {
      if (known.has(evalId)) throw caseExists(evalId, evalSetId);
      known.add(evalId);
    }
    checkCount(set.evalCases.length, evalSetId);
    return this.#alone(appName, evalSetId, async () => {
      if ((await this.#files.read(appName, 'set', evalSetId)) !== undefined) {
        throw new AppError('eval_exists', `Evaluation set "${evalSetId}" already exists`);
      }
      const made = {
        ...set,
        name: set.name ?? evalSetId,
        creationTimestamp: set.creationTimestamp || Date.now() / 1000,
      };
      await this.#save(appName, made);
      return made;
    });
  }

  /** Throws `eval_not_found`. */
  delete(appName: string, setId: string): Promise<void> {
    return this.#alone(appName, setId, async () => {
      if (!(await this.#files.remove(appName, 'set', setId))) throw setNotFound(setId);
    });
  }

  /** Throws `eval_not_found`. */
  async case(appName: string, setId: string, caseId: string): Promise<EvalCase> {
    const found = (await this.get(appName, setId)).evalCases.find(({ evalId }) => evalId === caseId);
    if (!found) throw caseNotFound(caseId);
    return found;
  }

  /** Throws `eval_exists` when the set has a case with that id, and `too_large` when the set is full. */
  addCase(appName: string, setId: string, evalCase: EvalCase): Promise<void> {
    return this.#change(appName, setId, (set) => {
      if (indexOf(set, evalCase.evalId) >= 0) throw caseExists(evalCase.evalId, setId);
      checkCount(set.evalCases.length + 1, setId);
      return [...set.evalCases, evalCase];
    });
  }

  /** Throws `eval_not_found` when the set has no case with that id. */
  updateCase(appName: string, setId: string, evalCase: EvalCase): Promise<void> {
    return this.#change(appName, setId, (set) => {
      if (indexOf(set, evalCase.evalId) < 0) throw caseNotFound(evalCase.evalId);
      return set.evalCases.map((known) => (known.evalId === evalCase.evalId ? evalCase : known));
    });
  }

  /** Throws `eval_not_found`. */
  deleteCase(appName: string, setId: string, caseId: string): Promise<void> {
    return this.#change(appName, setId, (set) => {
      if (indexOf(set, caseId) < 0) throw caseNotFound(caseId);
      return set.evalCases.filter(({ evalId }) => evalId !== caseId);
    });
  }

  #change(appName: string, setId: string, change: (set: EvalSet) => EvalCase[]): Promise<void> {
    return this.#alone(appName, setId, async () => {
      const set = await this.get(appName, setId);
      await this.#save(appName, { ...set, evalSetId: setId, evalCases: change(set) });
    });
  }

  async #save(appName: string, set: EvalSet): Promise<void> {
    const text = JSON.stringify(withSnakeCaseKeys(set), null, 2);
    await this.#files.write(appName, 'set', set.evalSetId, `${text}\n`);
  }

  async #alone<T>(appName: string, setId: string, work: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([appName, setId]);
    const before = this.#changes.get(key) ?? Promise.resolve();
    const mine = before.then(work, work); // a failure of `before` reaches its own caller
    this.#changes.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#changes.get(key) === mine) this.#changes.delete(key);
    }
  }
}

function checkCount(count: number, setId: string): void {
  if (count > maxCases) throw new AppError('too_large', `Evaluation set "${setId}" may hold at most ${maxCases} cases`);
}

/** `smoke` for `agents/weather/smoke.evalset.json`. */
export const setIdOfFile = (file: string): string => basename(file).replace(/(?:\.evalset|\.test)?\.json$/, '');

/** Parses a set in any format of ADK. Throws `invalid_request` for an invalid one. */
export function parseEvalSet(text: string, evalSetId: string): EvalSet {
  let fault: string;
  try {
    const json: unknown = JSON.parse(text);
    const parsed = EvalSet.safeParse(json);
    if (parsed.success) return { ...parsed.data, evalSetId };
    const legacy = legacySet(json, evalSetId);
    if (legacy) return legacy;
    fault = z.prettifyError(parsed.error);
  } catch (error) {
    fault = errorText(error);
  }
  throw new AppError('invalid_request', `The file of evaluation set "${evalSetId}" holds no evaluation set: ${fault}`);
}

const indexOf = (set: EvalSet, caseId: string): number => set.evalCases.findIndex(({ evalId }) => evalId === caseId);

const setNotFound = (setId: string): AppError => new AppError('eval_not_found', `Evaluation set not found: ${setId}`);
const caseNotFound = (caseId: string): AppError =>
  new AppError('eval_not_found', `Evaluation case not found: ${caseId}`);
const caseExists = (caseId: string, setId: string): AppError =>
  new AppError('eval_exists', `Evaluation case "${caseId}" already exists in set "${setId}"`);
