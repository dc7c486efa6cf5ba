import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '../../support/server.ts';
import { type Conversation, textOf, type WireEvent } from '../real-input/conversation.ts';
import * as bed from './bed.ts';

const script = [
  { match: 'echo (\\w+)', calls: [{ name: 'ev_echo', args: { message: '$1' } }] },
  { match: 'slow', calls: [{ name: 'ev_trigger-long-running-operation', args: { duration: 120, steps: 60 } }] },
  { match: 'weather', calls: [{ name: 'ev_get-structured-content', args: { location: 'Chicago' } }] },
  { match: 'picture', calls: [{ name: 'ev_get-tiny-image', args: {} }] },
  { match: 'read', calls: [{ name: 'ev_load_mcp_resource', args: { resource_names: ['features.md'] } }] },
  {
    match: 'prompt',
    calls: [{ name: 'ev_load_mcp_prompt', args: { name: 'args-prompt', arguments: { city: 'Rome' } } }],
  },
  { match: 'form', calls: [{ name: 'ev_trigger-elicitation-request', args: {} }] },
  {
    match: 'think',
    calls: [{ name: 'ev_trigger-sampling-request', args: { prompt: 'six times seven', maxTokens: 10 } }],
  },
  { match: 'six times seven', text: 'forty-two' },
  { text: 'Done.' },
];

let folder: string;
let server: ServerProcess;
const servers = new Map<string, bed.Everything>();
const transports = ['stdio', 'sse', 'streamableHttp'];

beforeAll(async () => {
  folder = await bed.workFolder();
  servers.set('stdio', await bed.stdioEverything(folder));
  for (const kind of ['sse', 'streamableHttp'] as const) servers.set(kind, await bed.httpEverything(kind));
  const agents = join(folder, 'agents');
  for (const [kind, one] of servers) {
    await one.start();
    const more = { tool_name_prefix: 'ev', use_mcp_resources: true, use_mcp_prompts: true };
    const tools = [{ name: 'McpToolset', args: { ...one.args, ...more } }];
    await bed.writeApp(agents, `app_${kind}`, { script, tools });
  }
  server = await bed.startServer(agents);
});

afterAll(async () => {
  const code = await server?.stop();
  await Promise.all([...servers].map(([kind, one]) => (kind === 'stdio' ? undefined : one.kill())));
  await bed.remove(folder);
  if (code !== 0) throw new Error(`The server ended with code ${code}:\n${server.stderr}`);
});

const responses = (events: readonly WireEvent[]): Record<string, unknown>[] =>
  events
    .flatMap((event) => event.content?.parts ?? [])
    .flatMap((part) => (part.functionResponse ? [part.functionResponse.response as Record<string, unknown>] : []));

/** The id and the payload of the question an answer ends with. */
function question(events: readonly WireEvent[]): { id: string; confirmation: { hint: string; payload: object } } {
  const call = events.at(-1)?.content?.parts?.[0]?.functionCall;
  expect(call?.name).toBe('adk_request_confirmation');
  const { toolConfirmation } = call!.args as { toolConfirmation: { hint: string; payload: object } };
  return { id: call?.id ?? '', confirmation: toolConfirmation };
}

const answer = (chat: Conversation, id: string, response: object): Promise<WireEvent[]> =>
  chat.say([{ functionResponse: { id, name: 'adk_request_confirmation', response: { ...response } } }]);

describe.each(transports)('the reference server over %s', (kind) => {
  const open = (): Promise<Conversation> => bed.chatWith(server, `app_${kind}`);

  it('answers calls with text and structure', async () => {
    const chat = await open();

    const echoed = await chat.say('echo hello');
    const [weather] = responses(await chat.say('weather'));

    expect(responses(echoed)).toEqual([{ content: [{ type: 'text', text: 'Echo: hello' }] }]);
    expect(textOf(echoed.at(-1))).toBe('Done.');
    expect(weather?.['structuredContent']).toEqual(
      expect.objectContaining({ temperature: expect.any(Number), conditions: expect.any(String) }),
    );
  });

  it('keeps a picture as an artifact of the session', async () => {
    const chat = await open();

    const events = await chat.say('picture');

    const [name = ''] = events.flatMap((event) => Object.keys(event.actions.artifactDelta));
    const { body } = await server.fetchJson(`${chat.path}/artifacts/${name}`);
    expect(body).toMatchObject({ inlineData: { mimeType: 'image/png' } });
    expect(JSON.stringify(responses(events))).toContain(name);
  });

  it('offers resources and prompts', async () => {
    const chat = await open();

    const [resource] = responses(await chat.say('read'));
    const [prompt] = responses(await chat.say('prompt'));

    expect(resource).toMatchObject({ resources: [{ text: expect.stringContaining('# Everything Server') }] });
    expect(prompt).toMatchObject({ messages: [{ content: { text: "What's weather in Rome?" } }] });
  });

  it('gets the form it asks for from the user', async () => {
    const chat = await open();

    const { id, confirmation } = question(await chat.say('form'));
    const events = await answer(chat, id, { confirmed: true, payload: { content: { name: 'Ada Lovelace' } } });

    expect(confirmation.hint).toContain('Please provide inputs');
    expect(JSON.stringify(responses(events))).toContain('Ada Lovelace');
    expect(textOf(events.at(-1))).toBe('Done.');
  });

  it('gets an answer of the model once the user agrees', async () => {
    const chat = await open();

    const { id, confirmation } = question(await chat.say('think'));
    const events = await answer(chat, id, { confirmed: true });

    expect(confirmation.payload).toMatchObject({ kind: 'sampling' });
    expect(JSON.stringify(responses(events))).toContain('forty-two');
  });

  it('costs one tool error when it is killed in a call, and is found again at the next call', async () => {
    const chat = await open();
    const everything = servers.get(kind)!;
    await chat.say('echo before');

    const stream = await chat.open('slow');
    const events: WireEvent[] = [];
    for await (const { data } of stream) {
      if (events.push(data as unknown as WireEvent) === 1) await everything.kill();
    }
    await everything.start();
    const after = await chat.say('echo after');

    expect(responses(events)).toEqual([
      { error: expect.stringMatching(/^The MCP server "ev" /), errorCode: expect.stringMatching(/^Mcp/) },
    ]);
    expect(textOf(events.at(-1))).toBe('Done.');
    expect(responses(after)).toEqual([{ content: [{ type: 'text', text: 'Echo: after' }] }]);
  });
});
