import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ApiKeys, newApiKey } from '../../src/identity/api-keys.ts';
import { KeyFile } from '../../src/identity/key-file.ts';
import type { ApiKey } from '../../src/schemas/api-key.ts';
import { bearer, collectedLog, patient } from '../support/caller.ts';
import { folderOf } from '../support/program.ts';

function scene() {
  const folder = folderOf({});
  const path = join(folder, 'keys.json');
  const log = collectedLog();
  return { folder, path, log, file: new KeyFile({ path, log }), write: (text: string) => writeFileSync(path, text) };
}

const newKey = () => newApiKey({ owner: 'Ada', userId: 'ada', actsForUsers: false, roles: ['user'] });
const textOf = (...keys: ApiKey[]): string => JSON.stringify({ keys });

it('makes a file that only its owner reads, and leaves nothing beside it', async () => {
  const { folder, path, file } = scene();
  await file.add(newKey().record);
  chmodSync(path, 0o644);
  await file.add(newKey().record);

  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['keys.json']);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ keys: await file.list() });
});

it('applies an edit while it runs, and survives a broken one', async () => {
  const { file, log, write } = scene();
  const [first, second] = [newKey(), newKey()];
  write(textOf(first.record));
  let nowMs = 0;
  const keys = new ApiKeys(file, () => (nowMs += 2_000));
  const isKnown = (text: string): Promise<boolean> =>
    keys.authenticate(bearer(text), patient).then(
      () => true,
      () => false,
    );
  expect([await isKnown(first.text), await isKnown(second.text)]).toEqual([true, false]);

  write(textOf(first.record, second.record));
  expect([await isKnown(first.text), await isKnown(second.text)]).toEqual([true, true]);

  for (const broken of [
    '{"keys": [',
    '',
    '[]',
    '{"keys": {}}',
    textOf({ ...first.record, roles: ['root'] } as never),
  ]) {
    write(broken);
    expect([await isKnown(first.text), await isKnown(second.text)]).toEqual([true, true]);
  }
  expect(new Set(log.messages)).toEqual(new Set(['the file of API keys cannot be used: earlier keys stay valid']));

  write(textOf({ ...first.record, revokedAt: '2026-01-01T00:00:00Z' }, second.record));
  expect([await isKnown(first.text), await isKnown(second.text)]).toEqual([false, true]);
});

it('says once that the file is gone, and keeps the keys', async () => {
  const { file, log, path, write } = scene();
  const { record } = newKey();
  write(textOf(record));
  await file.list();
  rmSync(path);

  for (let look = 0; look < 3; look += 1) expect(await file.list()).toEqual([record]);
  expect(log.messages).toHaveLength(1);
});

it.each([
  ['{', /cannot be used/],
  ['{"keys":[{"id":"x"}]}', /keys\.0\.id: must be 16 letters and digits/],
  ['{"keys":[],"more":1}', /cannot be used/],
])('does not begin with the file %s', async (text, message) => {
  const { file, write } = scene();
  write(text);

  await expect(file.list()).rejects.toMatchObject({
    code: 'ConfigurationException',
    message: expect.stringMatching(message),
  });
});

it('refuses a misspelled field, an id that comes twice, and a hash that is none', async () => {
  const { record } = newKey();
  const { hash: _, ...withoutHash } = record;

  for (const keys of [
    [{ ...record, revokedat: '2026-01-01T00:00:00Z' }],
    [{ ...record, expiresAt: 'soon' }],
    [record, record],
    [{ ...record, hash: 'abc' }],
    [withoutHash],
  ]) {
    const { file, write } = scene();
    write(textOf(...(keys as ApiKey[])));
    await expect(file.list()).rejects.toMatchObject({ code: 'ConfigurationException' });
  }
});

it('says what to do when there is no file, or no folder for it', async () => {
  const { file, folder } = scene();
  const lost = new KeyFile({ path: join(folder, 'none', 'keys.json'), log: collectedLog() });

  await expect(file.list()).rejects.toThrow('make a key with "agent-server keys create"');
  await expect(lost.add(newKey().record)).rejects.toThrow('does not exist');
});

it('does not overwrite a file that it cannot read', async () => {
  const { file, path, write } = scene();
  write('{ half');

  await expect(file.add(newKey().record)).rejects.toMatchObject({ code: 'ConfigurationException' });
  expect(readFileSync(path, 'utf8')).toBe('{ half');
});

it('names the lock of a command that was killed', async () => {
  const { folder, path } = scene();
  const file = new KeyFile({ path, log: collectedLog(), lockMs: 50 });
  writeFileSync(`${path}.lock`, '');

  await expect(file.add(newKey().record)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`${path}.lock`),
  });
  expect(readdirSync(folder)).toEqual(['keys.json.lock']);
});

it('changes the file that a link leads to', async () => {
  const { folder, file, path } = scene();
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real', 'keys.json'), textOf());
  symlinkSync(join('real', 'keys.json'), path);
  const { record } = newKey();
  await file.add(record);

  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, 'real', 'keys.json'), 'utf8'))).toEqual({ keys: [record] });
});
