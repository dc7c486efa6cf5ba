import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { BucketArtifacts } from '../../../../src/services/artifacts/buckets/bucket-artifacts.ts';
import { GoogleBucket } from '../../../../src/services/artifacts/buckets/gcs.ts';
import { artifactContentContract } from '../../../../src/testing/contracts/artifact-content.ts';
import { artifactRetentionContract } from '../../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../../src/testing/contracts/artifacts.ts';
import { gcsDouble } from '../../../support/gcs-double.ts';

// The real SDK, against a double; against a real bucket with TEST_GCS_BUCKET.
const realBucket = process.env['TEST_GCS_BUCKET'];
const double = gcsDouble();

beforeAll(async () => {
  await double.start();
  if (realBucket === undefined) vi.stubEnv('STORAGE_EMULATOR_HOST', double.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await double.close();
});

const open = (prefix = `test-${crypto.randomUUID()}/`): BucketArtifacts =>
  new BucketArtifacts(new GoogleBucket(realBucket ?? 'agents'), prefix);

artifactServiceContract('Google Cloud Storage', () => open());
artifactContentContract('Google Cloud Storage', () => open());
let empty = '';
beforeEach(() => {
  empty = `test-${crypto.randomUUID()}/`;
});
artifactRetentionContract('Google Cloud Storage', () => open(empty));
