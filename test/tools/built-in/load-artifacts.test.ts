import { expect, it } from 'vitest';
import type { Content, Part } from '../../../src/schemas/content.ts';
import { loadArtifacts } from '../../../src/tools/built-in/load-artifacts.ts';
import { modelRequest, services, toolContext } from '../contexts.ts';

const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const answer = (...names: unknown[]): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name: 'load_artifacts', response: { artifact_names: names } } }],
});

const holding = async (artifacts: Record<string, Part>): Promise<ReturnType<typeof services>> => {
  const held = services();
  for (const [name, part] of Object.entries(artifacts)) await held.artifacts.saveArtifact(key, name, part);
  return held;
};

it('says nothing while there are no artifacts', async () => {
  const request = modelRequest({ contents: [answer('x')] });

  await loadArtifacts.processRequest?.(request, toolContext());

  expect(request).toEqual(modelRequest({ contents: [answer('x')] }));
});

it('lists the names and shows no content until it is asked for', async () => {
  const held = await holding({ 'b.txt': { text: 'secret' }, 'user:a': { text: 'x' } });
  const request = modelRequest({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });

  await loadArtifacts.processRequest?.(request, toolContext({ services: held }));

  expect(request.config.systemInstruction).toContain('["b.txt","user:a"]');
  expect(request.contents).toHaveLength(1);
  expect(await loadArtifacts.run?.({ artifact_names: ['b.txt'] }, toolContext())).toEqual({
    artifact_names: ['b.txt'],
  });
});

it('shows what was asked for in the last turn: media as it is, text as text, the rest by description', async () => {
  const image: Part = { inlineData: { mimeType: 'image/png', data: 'aGk=' } };
  const held = await holding({
    'pic.png': image,
    'data.csv': { inlineData: { mimeType: 'text/csv; charset=utf-8', data: base64('a,b') } },
    'data.json': { inlineData: { mimeType: 'application/json', data: base64('{"ä":1}') } },
    'x.zip': { inlineData: { mimeType: 'application/zip', data: base64('zip!') } },
    'no type': { inlineData: { mimeType: '', data: base64('??') } },
    'user:note': { text: 'mine' },
  });
  const names = ['pic.png', 'data.csv', 'data.json', 'x.zip', 'no type', 'note', 'gone', 'pic.png', 7];
  const request = modelRequest({ contents: [answer(...names)] });

  await loadArtifacts.processRequest?.(request, toolContext({ services: held }));

  const shown = request.contents.slice(1);
  expect(shown.every(({ role }) => role === 'user')).toBe(true);
  expect(shown.map(({ parts }) => parts.at(-1))).toEqual([
    image,
    { text: 'a,b' },
    { text: '{"ä":1}' },
    { text: '[a file of type application/zip, 4 bytes, which cannot be shown]' },
    { text: '[a file of type application/octet-stream, 2 bytes, which cannot be shown]' },
    { text: 'mine' },
    { text: 'There is no artifact "gone".' },
  ]);
  expect(shown[0]?.parts[0]?.text).toContain('pic.png');
});

it('shows nothing again once the model has answered', async () => {
  const held = await holding({ x: { text: 'x' } });
  const contents: Content[] = [answer('x'), { role: 'model', parts: [{ text: 'It says x.' }] }];
  const request = modelRequest({ contents });

  await loadArtifacts.processRequest?.(request, toolContext({ services: held }));

  expect(request.contents).toHaveLength(2);
});
