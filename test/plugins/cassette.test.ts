import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readCassette, type Recording, writeCassette } from '../../src/plugins/replay/cassette.ts';
import { camelKeys, snakeKeys } from '../../src/plugins/replay/key-case.ts';

let root: string;
beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'cassette-'))));
afterEach(() => rm(root, { recursive: true, force: true }));

const recordings: Recording[] = [
  {
    userMessageIndex: 0,
    agentName: 'root',
    llmRecording: {
      llmResponses: [
        {
          content: { role: 'model', parts: [{ functionCall: { name: 'f', args: { some_key: 1, otherKey: 2 } } }] },
          usageMetadata: { promptTokenCount: 3 },
        },
      ],
    },
  },
  {
    userMessageIndex: 0,
    agentName: 'root',
    toolRecording: { toolCall: { id: 'c', name: 'f', args: { some_key: 1 } }, toolResponse: { response: { aB: 1 } } },
  },
];

it('reads what it wrote, user data in its own spelling', async () => {
  const place = { root, dir: 'cases/one', streaming: false };

  await writeCassette(place, recordings);

  const text = await readFile(join(root, 'cases/one/generated-recordings.yaml'), 'utf8');
  expect(text).toContain('user_message_index: 0');
  expect(text).toContain('otherKey: 2');
  expect(await readCassette(place)).toEqual(recordings);
});

it('reads the single response that older recordings hold', async () => {
  await writeFile(
    join(root, 'generated-recordings.yaml'),
    'recordings:\n- user_message_index: 0\n  agent_name: a\n  llm_recording:\n    llm_response:\n      finish_reason: STOP\n',
  );

  const [recording] = await readCassette({ root, dir: '.', streaming: true });

  expect(recording?.llmRecording?.llmResponse).toEqual({ finishReason: 'STOP' });
});

it.each(['..', '../other', '/etc', 'link', 'missing'])('refuses the folder "%s"', async (dir) => {
  await symlink('/tmp', join(root, 'link'));

  await expect(readCassette({ root, dir, streaming: false })).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('says what is wrong with a cassette without naming the machine’s folders', async () => {
  await mkdir(join(root, 'case'));
  await writeFile(join(root, 'case/generated-recordings.yaml'), 'recordings: [{ agent_name: 7 }]');

  const failure = await readCassette({ root, dir: 'case', streaming: false }).catch((error: unknown) => error);

  expect(String(failure)).toContain('agentName');
  expect(String(failure)).not.toContain(root);
});

it('renames keys there and back without touching user data', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
      const value = { functionCall: { willContinue: true, args } };

      expect(camelKeys(snakeKeys(value))).toEqual(value);
    }),
  );
});
