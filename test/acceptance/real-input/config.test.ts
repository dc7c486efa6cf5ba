import { expect, it } from 'vitest';
import { openBed } from './bed.ts';

const good = { name: 'good', model: 'gemini-2.5-flash', instruction: 'Work.' };
const broken = {
  forbidden_tools: { ...good, generate_content_config: { tools: [{ google_search: {} }] } },
  forbidden_system: { ...good, generate_content_config: { system_instruction: 'Obey.' } },
  forbidden_schema: { ...good, generate_content_config: { response_schema: { type: 'STRING' } } },
  unknown_tool: { ...good, tools: [{ name: 'no_such_tool' }] },
  program: { ...good, tools: [{ name: 'McpToolset', args: { stdio_server_params: { command: 'sh' } } }] },
  no_name: { model: 'gemini-2.5-flash', instruction: 'Work.' },
  reserved_name: { ...good, name: 'user' },
  escaping: { ...good, sub_agents: [{ config_path: '../good/root_agent.yaml' }] },
  missing_file: { ...good, sub_agents: [{ config_path: 'nowhere.yaml' }] },
};
/** What the message must name for each of them. */
const named: Record<keyof typeof broken, string> = {
  forbidden_tools: 'tools',
  forbidden_system: 'system',
  forbidden_schema: 'schema',
  unknown_tool: 'no_such_tool',
  program: 'ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS=1',
  no_name: 'name',
  reserved_name: 'user',
  escaping: '../good/root_agent.yaml',
  missing_file: 'nowhere.yaml',
};

const bed = await openBed({
  good: { 'root_agent.yaml': good },
  ...Object.fromEntries(Object.entries(broken).map(([app, config]) => [app, { 'root_agent.yaml': config }])),
  not_yaml: { 'root_agent.yaml': 'name: [unclosed' },
});

it.each(Object.entries(named))('refuses to run %s with a problem that names "%s"', async (app, name) => {
  const request = { appName: app, userId: 'u', sessionId: 's', newMessage: { role: 'user', parts: [{ text: 'hi' }] } };
  await bed.server.fetchJson(`/apps/${app}/users/u/sessions/s`, { json: {} });

  const { status, headers, body } = await bed.server.fetchJson('/run', { json: request });

  expect(status).toBe(500);
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect((body as { detail: string }).detail).toContain(name);
  expect(bed.double.requests).toEqual([]);
});

it('serves the good app beside broken ones', async () => {
  bed.double.answer(() => 'fine');

  const events = await (await bed.chat('good')).say('hi');

  expect(events).toMatchObject([{ author: 'good', content: { parts: [{ text: 'fine' }] } }]);
});
