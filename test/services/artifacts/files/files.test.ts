import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { ContainedFolder } from '../../../../src/services/artifacts/files/contained-folder.ts';
import { FileArtifacts } from '../../../../src/services/artifacts/files/files.ts';
import { artifactContentContract } from '../../../../src/testing/contracts/artifact-content.ts';
import { artifactRetentionContract } from '../../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../../src/testing/contracts/artifacts.ts';
import { freshKey } from '../../../../src/testing/contracts/events.ts';

const base = mkdtempSync(join(tmpdir(), 'agent-artifacts-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folders = 0;
const freshFolder = (): string => join(base, String((folders += 1)));

artifactServiceContract('FileArtifacts', () => new FileArtifacts(join(base, 'shared')));
artifactContentContract('FileArtifacts', () => new FileArtifacts(join(base, 'shared')));
let empty = '';
beforeEach(() => {
  empty = freshFolder();
});
artifactRetentionContract('FileArtifacts', () => new FileArtifacts(empty));

const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
const forGood = { signal: new AbortController().signal, isTrial: false };

it('keeps names of any length and script apart, and lists them as they were given', async () => {
  const artifacts = new FileArtifacts(freshFolder());
  const long = [
    'ü'.repeat(255),
    `${'ü'.repeat(254)}x`,
    'a'.repeat(256),
    '世'.repeat(80),
    'a/b',
    'a%2Fb',
    '~',
    '.new-1',
  ];
  for (const name of long) await artifacts.saveArtifact(key, name, { text: name });

  expect(await artifacts.listArtifactKeys(key)).toEqual(long.toSorted());
  for (const name of long) expect(await artifacts.loadArtifact(key, name)).toEqual({ text: name });
  const odd = { ...key, appName: '世'.repeat(200), userId: 'ü'.repeat(256), sessionId: '.hidden' };
  await artifacts.saveArtifact(odd, 'x', { text: 'x' });
  expect(await artifacts.listArtifactKeys(odd)).toEqual(['x']);
});

it('gives back exactly what it was given, even what is no proper base64 or text', async () => {
  const artifacts = new FileArtifacts(freshFolder());
  const parts = [{ inlineData: { mimeType: 'x/y', data: '-_8' } }, { text: 'half \ud83d' }, { text: 'a\u0000b' }];
  for (const part of parts) await artifacts.saveArtifact(key, 'odd', part);

  for (const [version, part] of parts.entries())
    expect(await artifacts.loadArtifact(key, 'odd', version)).toEqual(part);
});

it('leaves nothing of content whose source fails', async () => {
  const folder = freshFolder();
  const artifacts = new FileArtifacts(folder);
  async function* failing(): AsyncGenerator<Uint8Array, void, void> {
    yield Buffer.from('half');
    throw new Error('the client left');
  }

  const saved = artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: failing() });

  await expect(saved).rejects.toThrow('the client left');
  expect(await artifacts.listArtifactKeys(key)).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('numbers versions that two servers save at once without gaps', async () => {
  const folder = freshFolder();
  const [one, other] = [new FileArtifacts(folder), new FileArtifacts(folder)];

  const saves = Array.from({ length: 20 }, (_, n) => (n % 2 ? one : other).saveArtifact(key, 'x', { text: `${n}` }));
  const numbers = await Promise.all(saves);

  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  for (const [n, version] of numbers.entries()) {
    expect(await other.loadArtifact(key, 'x', version)).toEqual({ text: `${n}` });
  }
});

it('follows no link out of its folder', async () => {
  const folder = freshFolder();
  const outside = freshFolder();
  const artifacts = new FileArtifacts(folder);
  await artifacts.saveArtifact(key, 'mine', { text: 'mine' });
  const shelf = join(folder, 'apps/app/users/ada/sessions/s1/artifacts');
  mkdirSync(join(outside, '0'), { recursive: true });
  const about = { name: 'x', rest: { text: 'secret' }, hasBytes: false, metadata: {}, createTime: 0 };
  writeFileSync(join(outside, '0/about.json'), JSON.stringify(about));
  symlinkSync(outside, join(shelf, 'linked'));
  mkdirSync(join(shelf, 'file/0'), { recursive: true });
  symlinkSync(join(outside, '0/about.json'), join(shelf, 'file/0/about.json'));

  await expect(artifacts.loadArtifact(key, 'linked')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(artifacts.loadArtifact(key, 'file')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(artifacts.saveArtifact(key, 'linked', { text: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
  expect(readdirSync(outside)).toEqual(['0']);
});

it('says that it is unavailable when its folder cannot be made', async () => {
  const file = freshFolder();
  writeFileSync(file, '');
  const artifacts = new FileArtifacts(join(file, 'below'));

  await expect(artifacts.check()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(artifacts.saveArtifact(freshKey(), 'x', { text: 'x' })).rejects.toMatchObject({ code: 'unavailable' });
});

it('deletes uploads that broke off with their server, and no others', async () => {
  const folder = freshFolder();
  const artifacts = new FileArtifacts(folder);
  await artifacts.saveArtifact(key, 'kept', { text: 'x' });
  mkdirSync(join(folder, '.new-1'));
  writeFileSync(join(folder, '.new-1/content'), 'half');

  await artifacts.collectGarbage({}, forGood);
  expect(readdirSync(folder).toSorted()).toEqual(['.new-1', 'apps']);
  const dayAgo = Date.now() / 1000 - 90_000;
  utimesSync(join(folder, '.new-1'), dayAgo, dayAgo);
  await artifacts.collectGarbage({}, { ...forGood, isTrial: true });
  expect(readdirSync(folder).toSorted()).toEqual(['.new-1', 'apps']);
  await artifacts.collectGarbage({}, forGood);

  expect(readdirSync(folder)).toEqual(['apps']);
  expect(await artifacts.loadArtifact(key, 'kept')).toEqual({ text: 'x' });
});

it('frees the disk of old versions at once, and their numbers when nobody can be about to take them', async () => {
  const folder = freshFolder();
  const artifacts = new FileArtifacts(folder);
  for (const text of ['one', 'two', 'three', 'four']) await artifacts.saveArtifact(key, 'poem', { text });
  const place = join(folder, 'apps/app/users/ada/sessions/s1/artifacts/poem');
  const age = (file: string): void => {
    const facts = JSON.parse(readFileSync(join(place, file), 'utf8')) as { createTime: number };
    writeFileSync(join(place, file), JSON.stringify({ ...facts, createTime: facts.createTime - 90_000 }));
  };
  age('0/about.json');

  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(3);
  expect(readdirSync(place).toSorted()).toEqual(['1', '2', '3']);
  expect(readdirSync(join(place, '1'))).toEqual(['gone.json']);
  age('1/gone.json');
  writeFileSync(join(place, '2/content'), 'left by a server that was killed');
  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(0);

  expect(readdirSync(place).toSorted()).toEqual(['2', '3']);
  expect(readdirSync(join(place, '2'))).toEqual(['gone.json']);
  expect(await artifacts.saveArtifact(key, 'poem', { text: 'five' })).toBe(4);
});

it('does not wait for ever for a folder that is deleted in the middle of an upload', async () => {
  const folder = freshFolder();
  const artifacts = new FileArtifacts(folder);
  async function* losing(): AsyncGenerator<Uint8Array, void, void> {
    yield Buffer.from('half');
    rmSync(folder, { recursive: true });
  }

  const saved = artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: losing() });

  await expect(saved).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
  expect(await artifacts.saveArtifact(key, 'film', { text: 'x' })).toBe(0);
});

it.each(['list', 'open'] as const)('loads the newest version when the one it has found goes at the %s', async (at) => {
  const artifacts = new FileArtifacts(freshFolder());
  await artifacts.saveArtifact(key, 'poem', { text: 'old' });
  const { list, open } = ContainedFolder.prototype; // oxlint-disable-line typescript/unbound-method -- called below, with its folder
  const interfere = once(async () => {
    await artifacts.saveArtifact(key, 'poem', { text: 'newer' });
    await artifacts.collectGarbage({ keep: 1 }, forGood);
  });
  vi.spyOn(ContainedFolder.prototype, 'list').mockImplementation(async function (this: ContainedFolder, segments) {
    const listed = await list.call(this, segments);
    if (at === 'list') await interfere();
    return listed;
  });
  vi.spyOn(ContainedFolder.prototype, 'open').mockImplementation(async function (this: ContainedFolder, folder, name) {
    if (at === 'open' && name === 'content') await interfere();
    return open.call(this, folder, name);
  });

  expect(await artifacts.loadArtifact(key, 'poem')).toEqual({ text: 'newer' });
});

it('leaves alone what was saved in the place of a version that was deleted meanwhile', async () => {
  const artifacts = new FileArtifacts(freshFolder());
  for (const text of ['one', 'two']) await artifacts.saveArtifact(key, 'poem', { text });
  const { rename } = ContainedFolder.prototype; // oxlint-disable-line typescript/unbound-method -- called below, with its folder
  const interfere = once(async () => {
    await artifacts.deleteArtifact(key, 'poem');
    await artifacts.saveArtifact(key, 'poem', { text: 'anew' });
  });
  vi.spyOn(ContainedFolder.prototype, 'rename').mockImplementation(async function (this: ContainedFolder, ...names) {
    await interfere();
    return rename.apply(this, names);
  });

  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(0);

  expect(await artifacts.loadArtifact(key, 'poem')).toEqual({ text: 'anew' });
});

/** The first call acts, and those within it and after it do not. */
function once(act: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await act();
  };
}
