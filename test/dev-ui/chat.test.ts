import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import type { Event } from '../../src/schemas/event.ts';
import { listen, says, type Script, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const answering: Script = async function* (request): AsyncGenerator<Event> {
  if (request.newMessage?.parts[0]?.text === 'fail') throw new AppError('model_failed', 'The model is out');
  yield says('Hel', { partial: true });
  yield says('lo!', { partial: true });
  yield says('Hello!');
};

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('holds a conversation', async () => {
    const { app, services } = await server({ script: answering });
    const { page, faults } = await openPage(`${await listen(app)}/dev-ui/`);

    await page.getByRole('button', { name: 'demo' }).click();
    await page.getByLabel('Message').fill('Hi <b>there</b>');
    await page.keyboard.press('Enter');
    await page.getByText('Answer complete').waitFor();

    expect(await page.getByRole('log').locator('article').allInnerTexts()).toEqual([
      expect.stringMatching(/^You\s+Hi <b>there<\/b>$/),
      expect.stringMatching(/^demo_agent\s+Hello!$/),
    ]);
    const [session] = await services.sessions.listSessions({ appName: 'demo', userId: 'user' });
    expect(session?.state).toEqual({ __session_metadata__: { displayName: 'Hi <b>there</b>' } });
    expect(new URL(page.url()).searchParams.get('session')).toBe(session?.id);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('shows what went wrong', async () => {
    const { app } = await server({ script: answering });
    const { page } = await openPage(`${await listen(app)}/dev-ui/?app=demo`);

    await page.getByLabel('Message').fill('fail');
    await page.getByRole('button', { name: 'Send' }).click();

    await page.getByText('Answer complete').waitFor();
    expect(await page.getByRole('log').locator('.error').innerText()).toContain('The model is out');
  });

  it('opens a session from its address', async () => {
    const { app, services } = await server({ script: answering });
    const events = [says('An old answer')];
    await services.sessions.createSession({ appName: 'demo', userId: 'user' }, { sessionId: 's1', events });

    const { page } = await openPage(`${await listen(app)}/dev-ui/?app=demo&session=s1`);

    await page.getByRole('log').locator('article').waitFor();
    expect(await page.getByRole('log').innerText()).toContain('An old answer');
  });

  it('shows the API without breaking its own policy', async () => {
    const { app } = await server();
    const { page, faults } = await openPage(`${await listen(app)}/docs`);

    await page.getByText('/run-sse', { exact: true }).click();

    expect((await page.locator('body').boundingBox())?.width).toBeLessThan(1000); // its style is in force
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
