import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { evalFiles } from '../../src/evaluation/eval-files.ts';
import { EvalSets } from '../../src/evaluation/eval-sets.ts';
import { caseOf, paris, scratchFolder, setOf } from './scene.ts';

it.each(['../out', 'a/b', '.hidden', '', 'a\u0000b', 'x'.repeat(300)])('takes %j for no file', async (id) => {
  const files = evalFiles(async () => scratchFolder());

  await expect(files.write('app', 'set', id, '{}')).rejects.toThrow('cannot be the name of a file');
  expect(await files.read('app', 'set', id)).toBeUndefined();
});

it('follows no link that leads out of the folder of the app', async () => {
  const [folder, elsewhere] = [scratchFolder(), scratchFolder()];
  writeFileSync(join(elsewhere, 'secret'), 'secret');
  symlinkSync(join(elsewhere, 'secret'), join(folder, 'linked.evalset.json'));
  symlinkSync(elsewhere, join(folder, '.adk'));
  const files = evalFiles(async () => folder);

  await expect(files.read('app', 'set', 'linked')).rejects.toThrow('leads out of the folder');
  await expect(files.write('app', 'result', 'r', '{}')).rejects.toThrow('leads out of the folder');
  await files.write('app', 'set', 'linked', '{}');
  expect(readFileSync(join(elsewhere, 'secret'), 'utf8')).toBe('secret');
  expect(readFileSync(join(folder, 'linked.evalset.json'), 'utf8')).toBe('{}');
});

it('says that it is unavailable where it cannot write', async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, '.adk'), 'in the way');
  const files = evalFiles(async () => folder);

  const refused = { code: 'unavailable', message: expect.stringContaining('cannot be written'), retryAfter: 2 };
  await expect(files.write('app', 'result', 'r', '{}')).rejects.toMatchObject(refused);
});

it('leaves no draft behind', async () => {
  const folder = scratchFolder();
  const files = evalFiles(async () => folder);

  await files.write('app', 'result', 'r', '{}');

  expect(readdirSync(join(folder, '.adk/eval_history'))).toEqual(['r.evalset_result.json']);
  expect(await files.list('app', 'result')).toEqual(['r']);
});

it('loses no case when many are added at the same time', async () => {
  const folder = scratchFolder();
  const sets = new EvalSets(evalFiles(async () => folder));
  await sets.create('app', setOf());

  const ids = Array.from({ length: 20 }, (_, index) => `case${index}`);
  await Promise.all(ids.map((id) => sets.addCase('app', 'set', setOf(caseOf(id, paris)).evalCases[0]!)));

  const { evalCases } = await sets.get('app', 'set');
  expect(evalCases.map(({ evalId }) => evalId).toSorted()).toEqual(ids.toSorted());
});

it('keeps the files of an app without a folder in memory', async () => {
  const files = evalFiles(async () => undefined);

  await files.write('app', 'set', 'a', '{}');

  expect(await files.list('app', 'set')).toEqual(['a']);
  expect(await files.list('other', 'set')).toEqual([]);
  expect(await files.remove('app', 'set', 'a')).toBe(true);
  expect(await files.remove('app', 'set', 'a')).toBe(false);
});

it('deletes nothing but the file', async () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'inner.evalset.json'));
  const files = evalFiles(async () => folder);

  await expect(files.remove('app', 'set', 'inner')).rejects.toThrow(/directory/);

  expect(existsSync(join(folder, 'inner.evalset.json'))).toBe(true);
});
