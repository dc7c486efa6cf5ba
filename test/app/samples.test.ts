import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluate } from '../../src/app/evaluate.ts';
import { ServerProcess } from '../support/server.ts';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ agents: 'agents' });
});
afterAll(() => server.stop());

interface Said {
  readonly author: string;
  readonly content?: { parts: { text?: string; functionCall?: { name: string } }[] };
  readonly actions: { stateDelta: Record<string, unknown>; artifactDelta: Record<string, number> };
}

async function talk(app: string, ...texts: string[]): Promise<Said[][]> {
  const { body } = await server.fetchJson(`/apps/${app}/users/u/sessions`, { json: {} });
  const answers: Said[][] = [];
  for (const text of texts) {
    const answer = await server.fetchJson('/run', {
      json: {
        appName: app,
        userId: 'u',
        sessionId: (body as { id: string }).id,
        newMessage: { role: 'user', parts: [{ text }] },
      },
    });
    expect(answer).toMatchObject({ status: 200 });
    answers.push(answer.body as Said[]);
  }
  return answers;
}

const lastText = (events: Said[] | undefined): string => events?.at(-1)?.content?.parts.at(-1)?.text ?? '';
const calls = (events: Said[] | undefined): string[] =>
  (events ?? []).flatMap(({ content }) => content?.parts.flatMap(({ functionCall }) => functionCall?.name ?? []) ?? []);

it('has an assistant that uses tools side by side, state and artifacts', async () => {
  const [both, dice, noted, recalled, saved, other] = await talk(
    'assistant',
    'What time is it in Tokyo, and roll a die',
    'Roll 2d6',
    'Remember that I like tea',
    'What do you remember?',
    'Save my notes',
    'Something else',
  );

  expect(calls(both)).toEqual(['get_time', 'roll_dice']);
  expect(lastText(both)).toMatch(/^In Tokyo it is \d\d:\d\d, .+\. And you rolled [1-6]\.$/);
  expect(lastText(dice)).toMatch(/^You rolled \d \+ \d = \d+\.$/);
  expect(noted?.[1]?.actions.stateDelta).toEqual({ 'user:notes': ['I like tea'] });
  expect(lastText(recalled)).toContain('- I like tea');
  expect(saved?.[1]?.actions.artifactDelta).toEqual({ 'notes.md': 0 });
  expect(lastText(other)).toContain('GOOGLE_API_KEY');
});

it('has a greeter in YAML', async () => {
  const answers = await talk('greeter', 'hi', "I'm Bob", 'hola');

  expect(answers.map(lastText)).toEqual([
    'Hello and welcome! What is your name?',
    'Hello Bob, nice to meet you!',
    '¡Hola! Me alegro de verte.',
  ]);
});

it('has a team that hands over and shares what it knows', async () => {
  const [flight, hotel] = await talk('travel_team', 'Find a flight to Oslo', 'And a hotel, please');

  expect(calls(flight)).toEqual(['transfer_to_agent', 'search_flights']);
  expect(flight?.at(-1)?.author).toBe('flights');
  expect(calls(hotel)).toEqual(['transfer_to_agent', 'search_hotels']);
  expect(lastText(hotel)).toContain('Oslo');
});

it('has a pipeline whose reviewer ends the loop', async () => {
  const [report] = await talk('report_pipeline', 'A report about bicycles');
  const authors = (report ?? []).map(({ author }) => author);

  expect(authors.slice(0, 3).toSorted()).toEqual(['facts', 'ideas', 'risks'].toSorted());
  expect(calls(report)).toEqual(['read_findings', 'read_findings', 'exit_loop']);
  const written = report?.flatMap(({ actions }) => actions.stateDelta['report'] ?? []) as string[];
  expect(written).toHaveLength(2);
  expect(written.at(-1)).toMatch(/bicycles[\s\S]*In short/);
});

it('has a README for every sample, shown with the app', async () => {
  const { body } = await server.fetchJson('/list-apps?detailed=true');
  const { apps } = body as { apps: { name: string; description: string; error?: string }[] };

  expect(apps.map(({ name }) => name)).toEqual(['assistant', 'greeter', 'report_pipeline', 'travel_team']);
  expect(apps.filter(({ description, error }) => description === '' || error !== undefined)).toEqual([]);
});

it('has a travel team that passes its evaluation', async () => {
  const result = await evaluate('agents/travel_team', 'smoke');

  expect(result.evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus)).toEqual([1]);
});
