import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { thrownByCall, thrownIn } from '../../dev-ui/src/log/thrown.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import { noBrowser, openPage } from './browser.ts';
import { copyOfAgents, say, serve } from './served.ts';

const event = (fields: object) => newEvent({ invocationId: 'e-1' }, 'root', fields);

it('separates the message of an error from its file and line', () => {
  const where = 'shop/agent.ts:4';
  const errorMessage = `TypeError: boom (at ${where})`;
  expect(thrownIn(event({ errorMessage, customMetadata: { where, errorId: '1' } }))).toEqual({
    message: 'TypeError: boom',
    where,
    errorId: '1',
  });
  expect(thrownIn(event({ errorMessage }))).toEqual({ message: errorMessage });
  expect(thrownIn(event({ errorMessage, customMetadata: { where: 3 } }))).toEqual({ message: errorMessage });
  expect(thrownIn(event({ errorMessage, customMetadata: [where] }))).toEqual({ message: errorMessage });
});

it('finds what the tool of a call threw, among whatever metadata hold', () => {
  const thrown = { name: 'TypeError', message: 'boom', where: 'shop/agent.ts:4' };
  const answer = event({ customMetadata: { toolErrors: { a: thrown, b: { message: 1 }, c: 'text' } } });
  expect(thrownByCall('a', answer)).toEqual(thrown);
  for (const id of ['b', 'c', 'd', undefined]) expect(thrownByCall(id, answer)).toBeUndefined();
  expect(thrownByCall('a', event({ customMetadata: { toolErrors: 'none' } }))).toBeUndefined();
  expect(thrownByCall('a', undefined)).toBeUndefined();
});

it.skipIf(noBrowser)('shows what a tool and an agent threw, and where', async () => {
  const agents = copyOfAgents();
  mkdirSync(join(agents, 'shop'));
  writeFileSync(
    join(agents, 'shop/agent.ts'),
    `import { functionTool, llmAgent } from 'agent-server';
const buy = functionTool({ name: 'buy', description: 'Buys.', parameters: { type: 'object' }, run: () => {
  throw new TypeError('out of stock');
} });
export const rootAgent = llmAgent({
  name: 'root', model: 'scripted', instruction: 'x', tools: [buy],
  beforeModel: ({ request }) => {
    if (JSON.stringify(request.contents).includes('fail')) throw new RangeError('no such warehouse');
  },
  script: [{ after: 'buy', text: 'Sorry.' }, { calls: [{ name: 'buy' }] }],
});
`,
  );
  const server = await serve(agents);
  const { page, faults } = await openPage(`${server.url}/dev-ui/apps/shop`);

  await say(page, 'buy one');
  await page.getByText('Sorry.').waitFor();
  await page.getByText('TypeError: out of stock', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'shop/agent.ts:3' }).waitFor();

  await say(page, 'fail');
  const error = page.getByRole('group', { name: 'Error' });
  await error.getByText('RangeError: no such warehouse', { exact: true }).waitFor();
  await error.getByRole('button', { name: 'shop/agent.ts:8' }).waitFor();

  expect(faults).toEqual([]);
});
