import { describe, expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import { textContent } from '../../src/schemas/content.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { type OpenSpan, openSpan, rootTrace } from '../../src/telemetry/spans.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const owner = { appName: 'demo', userId: 'user' };

/** A run of two steps, the second of which failed. */
function recordRun(recorder: TraceRecorder, answerId: string): OpenSpan {
  const run = openSpan('invocation', 'invocation', rootTrace(recorder), {
    'gcp.vertex.agent.session_id': 's1',
    'gcp.vertex.agent.invocation_id': 'e-1',
    'agent_server.app_name': 'demo',
    'user.id': 'user',
  });
  const agent = openSpan('agent', 'invoke_agent demo_agent', run.context, { 'gen_ai.conversation.id': 's1' });
  const call = openSpan('model', 'call_llm', agent.context, { 'gen_ai.request.model': 'gemini-test' });
  call.set({
    'gen_ai.usage.input_tokens': 941,
    'gen_ai.usage.output_tokens': 234,
    'gcp.vertex.agent.event_id': answerId,
  });
  call.setLazy('gcp.vertex.agent.llm_request', { text: () => '{"contents":"what the model was sent"}' }, 0);
  call.end();
  const tool = openSpan('tool', 'execute_tool search', agent.context);
  tool.fail(new Error('no network'));
  tool.end();
  agent.end();
  return run;
}

async function traced() {
  const recorder = new TraceRecorder();
  const { app, services } = await server({ traces: recorder });
  const question = newEvent({ invocationId: 'e-1' }, 'user', { content: textContent('user', 'Where is it?') });
  const answer = says('It is here');
  await services.sessions.createSession(owner, { sessionId: 's1', events: [question, answer] });
  const run = recordRun(recorder, answer.id);
  return { base: await listen(app), recorder, run, answer };
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('shows spans as a tree of bars, with model, tokens and failures', async () => {
    const { base, run } = await traced();
    run.end();
    const { page, faults } = await openPage(`${base}/dev-ui/apps/demo/u/user/s/s1?view=trace`);

    const tree = page.getByRole('tree', { name: 'Spans' });
    await tree.getByRole('treeitem').first().waitFor();
    expect(await tree.getByRole('treeitem').allTextContents()).toEqual([
      expect.stringContaining('“Where is it?”'),
      expect.stringContaining('demo_agent'),
      expect.stringMatching(/gemini-test · 941 → 234/),
      expect.stringMatching(/search.*failed/),
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('is navigated, folded and zoomed by keyboard, and shows the model request', async () => {
    const { base, run } = await traced();
    run.end();
    const { page } = await openPage(`${base}/dev-ui/apps/demo/u/user/s/s1?view=trace`);
    const items = page.getByRole('treeitem');
    await items.first().focus();

    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => items.count()).toBe(2);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => items.count()).toBe(4);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('+');
    await page.keyboard.press('0');
    await page.keyboard.press('Enter');

    await page.getByRole('region', { name: 'Span call' }).getByText('llm_request').click();
    await page.getByText('what the model was sent').waitFor();
    expect(new URL(page.url()).searchParams.get('span')).toMatch(/^[0-9a-f]{16}$/);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('leads from a span to its event and back', async () => {
    const { base, run, answer } = await traced();
    run.end();
    const { page } = await openPage(`${base}/dev-ui/apps/demo/u/user/s/s1?view=trace&e=${answer.id}`);

    await page.locator('[role=treeitem][aria-selected=true]').getByText('call').waitFor();
    await page.getByRole('button', { name: 'Show in chat' }).click();
    await page.getByRole('feed').getByText('It is here').waitFor();
    expect(new URL(page.url()).searchParams.get('e')).toBe(answer.id);
  });

  it('lists the traces of all sessions, and follows one that still runs', async () => {
    const { base, run } = await traced();
    const { page, faults } = await openPage(`${base}/dev-ui/traces`);

    await page.getByRole('cell', { name: 'running' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByText('4 spans').waitFor();
    run.end();
    await page.locator('.trace-status', { hasText: 'error' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('draws only what can be seen of two thousand spans', async () => {
    const { base, recorder, run } = await traced();
    for (let step = 0; step < 2_000; step += 1) openSpan('tool', `execute_tool step_${step}`, run.context).end();
    run.end();
    expect(recorder.list({ pageSize: 1 }).traces[0]?.spanCount).toBe(2_004);
    const { page } = await openPage(`${base}/dev-ui/apps/demo/u/user/s/s1?view=trace`);

    await page.getByText('2004 spans').waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(60);
    await page.getByRole('treeitem').first().focus();
    await page.keyboard.press('End');
    await page.getByRole('treeitem', { name: 'step_1999' }).waitFor();
  });
});
