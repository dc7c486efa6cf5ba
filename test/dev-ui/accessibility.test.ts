import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { createSession, serve } from './served.ts';

const call = { id: 'c1', name: 'search_flights', args: { from: 'BER', to: 'LIS' } };
const events = [
  { content: { role: 'user', parts: [{ text: 'Find a flight' }] } },
  { author: 'careful', content: { role: 'model', parts: [{ functionCall: call }] } },
  {
    author: 'careful',
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: call.name, response: { flights: [1, 2] } } }],
    },
    actions: { stateDelta: { flights: 2 } },
    customMetadata: { toolErrors: { c1: { name: 'TypeError', message: 'No flights', where: 'careful/agent.ts:7' } } },
  },
  { author: 'careful', actions: { transferToAgent: 'slow' } },
  {
    author: 'slow',
    content: {
      role: 'model',
      parts: [{ text: 'Thinking', thought: true }, { text: '# Two\n\n| a | b |\n|---|---|\n| 1 | `x` |' }],
    },
  },
  {
    author: 'slow',
    errorCode: 'QUOTA',
    errorMessage: 'Used up (at slow/agent.ts:9)',
    customMetadata: { where: 'slow/agent.ts:9' },
  },
];

const places = {
  'the apps': ['apps', 'h1'],
  'a new session': ['apps/careful', '#composer'],
  'an app that cannot be loaded': ['apps/broken', '[role=alert]'],
  'a session': ['apps/careful/u/user/s/s1', 'text=Used up'],
  'a session without events': ['apps/careful/u/user/s/empty', 'text=No messages yet'],
  'a selected event': ['apps/careful/u/user/s/s1?e=event-1', '.facts'],
  'the raw event': ['apps/careful/u/user/s/s1?e=event-1&t=raw', '[role=tree]'],
  'the events': ['apps/careful/u/user/s/s1?view=events', '[role=option]'],
  'the trace': ['apps/careful/u/user/s/s1?view=trace', '[role=tabpanel]'],
  'the state': ['apps/careful/u/user/s/s1?t=state', '[data-key=flights]'],
  'the state back then': ['apps/careful/u/user/s/s1?t=state&e=event-3&time=1', '[role=group] [type=range]'],
  'the agents': ['apps/careful/u/user/s/s1?t=agent', '[aria-label="Agent careful"]'],
  'the artifacts': ['apps/careful/u/user/s/s1?t=artifacts', 'text=No artifacts'],
  'loops and waste': ['apps/careful/u/user/s/s1?t=findings', '.finding'],
  'a comparison': ['apps/careful/u/user/s/s1/compare/empty', 'text=Go to first difference'],
  'the tools': ['apps/careful/tools', 'text=book_flight'],
  'the traces': ['traces', 'h1'],
  'a trace that is not there': ['traces/gone', '[role=alert]'],
  'a filter that fits nothing': ['apps/careful/u/user/s/s1?q=nothing+like+it', 'text=No events match'],
  'a session that is not there': ['apps/careful/u/user/s/gone', 'text=Session not found'],
  'a page that is not there': ['nowhere', 'text=Page not found'],
  'two sessions beside each other': ['apps/careful/u/user/s/s1/compare/empty', 'h1'],
  'the evaluations': ['apps/careful/evals', 'h1'],
  'the settings': ['settings', 'table'],
  'a file': ['view', 'h1'],
} satisfies Record<string, [string, string]>;

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 180_000 }, () => {
  it.each(['light', 'dark'] as const)('has no axe violation in any view when it is %s', async (theme) => {
    const server = await serve();
    await createSession(server, 'careful', { sessionId: 's1', events });
    await createSession(server, 'careful', { sessionId: 'empty' });
    const { page } = await openPage(`${server.url}/dev-ui/settings`);
    await page.emulateMedia({ colorScheme: theme });
    const faults: Record<string, string[]> = {};

    for (const [name, [address, sign]] of Object.entries(places)) {
      await page.goto(`${server.url}/dev-ui/${address}`);
      await page.locator(sign).first().waitFor();
      const found = await accessibilityFaults(page);
      if (found.length > 0) faults[name] = found;
    }
    await page.goto(`${server.url}/dev-ui/apps/careful/u/user/s/s1`);
    await page.getByText('Used up').waitFor();
    for (const [open, role] of [
      ['Control+k', 'dialog'],
      ['?', 'dialog'],
    ] as const) {
      await page.evaluate('document.activeElement?.blur()');
      await page.keyboard.press(open);
      await page.getByRole(role).waitFor();
      const found = await accessibilityFaults(page);
      if (found.length > 0) faults[open] = found;
      await page.keyboard.press('Escape');
    }

    expect(faults).toEqual({});
  });
});
