import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ServerProcess } from '../../support/server.ts';
import { replay } from './client.ts';

// Cases in the format of ADK's conformance suite, written by hand. There is no model: no key, and nobody to ask.

const cases = join(import.meta.dirname, 'cases');
const server = await ServerProcess.start({ agents: join(import.meta.dirname, 'agents') });
afterAll(() => server.stop());

it.each(readdirSync(cases))('replays the case %s into the session that was recorded', async (name) => {
  const { stored, recorded } = await replay(server, join(cases, name));

  expect(stored.events).toEqual(recorded.events);
  expect(stored.state).toEqual(recorded.state);
});

it('shows the recorded fragments to a client that streams', async () => {
  const { fragments } = await replay(server, join(cases, 'streamed'));

  expect(fragments).toEqual(['Let me ', 'look.', 'It ', 'is there.']);
});
