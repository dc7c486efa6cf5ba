import { beforeEach, expect, it } from 'vitest';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { artifactRetentionContract } from '../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../src/testing/contracts/artifacts.ts';
import { freshKey } from '../../../src/testing/contracts/events.ts';

artifactServiceContract('InMemoryArtifacts', () => new InMemoryArtifacts());
let shared: InMemoryArtifacts;
beforeEach(() => (shared = new InMemoryArtifacts()));
artifactRetentionContract('InMemoryArtifacts', () => shared);

it('names a version by a URI of its own, and a file reference by the file', async () => {
  const artifacts = new InMemoryArtifacts();
  const key = { appName: 'my app', userId: 'ada/1', sessionId: 's1' };
  await artifacts.saveArtifact(key, 'a/b', { text: 'x' });
  await artifacts.saveArtifact(key, 'user:c', { fileData: { fileUri: 'gs://bucket/cat' } });

  expect((await artifacts.listVersions(key, 'a/b'))[0]?.canonicalUri).toBe(
    'memory://apps/my%20app/users/ada%2F1/sessions/s1/artifacts/a%2Fb/versions/0',
  );
  expect((await artifacts.listVersions(key, 'user:c'))[0]?.canonicalUri).toBe('gs://bucket/cat');
});

it('turns bytes a tool hands over into base64', async () => {
  const artifacts = new InMemoryArtifacts();
  const key = freshKey();
  const bytes = new TextEncoder().encode('hi') as unknown as string;

  await artifacts.saveArtifact(key, 'x', { inlineData: { mimeType: 'text/plain', data: bytes } });

  expect((await artifacts.loadArtifact(key, 'x'))?.inlineData?.data).toBe('aGk=');
});

it('refuses what would go beyond its bytes, and gives back what is deleted', async () => {
  const artifacts = new InMemoryArtifacts({ maxBytes: 3_000 });
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  const large = { text: 'x'.repeat(1_500) };
  await artifacts.saveArtifact(key, 'one', large);

  await expect(artifacts.saveArtifact(key, 'two', large)).rejects.toMatchObject({ code: 'storage_full' });
  await artifacts.deleteArtifact(key, 'one');
  await artifacts.saveArtifact(key, 'two', large);
  await artifacts.deleteSessionArtifacts(key);
  expect(await artifacts.saveArtifact(key, 'three', large)).toBe(0);
});
