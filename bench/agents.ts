import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type App = 'quick' | 'stream' | 'slow' | 'flood' | 'echo' | 'tools';

/** Enough events to fill every socket buffer between the server and a client that does not read (some 12 MB). */
const FLOOD_CHUNKS = 30_000;

/** Scripted models that cost nothing but what their name says. */
const scripts: Readonly<Record<Exclude<App, 'tools'>, () => unknown>> = {
  quick: () => ({ text: 'Hello! I am well, thank you for asking.' }),
  stream: () => ({ chunks: Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(60, ' and so on')) }),
  slow: () => ({ text: 'Good things take time.', delayMs: 200 }),
  echo: () => ({ match: '[^]*', text: '$0' }),
  flood: () => ({ chunks: Array.from({ length: FLOOD_CHUNKS }, () => 'drop after drop ') }),
};

/** Calls three tools at once, then answers with what they said. */
const threeTools = `
import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

const city = z.object({ city: z.string() });
const ask = (name) => functionTool({
  name,
  description: 'Says something about a city.',
  parameters: city,
  run: ({ city }) => ({ report: name + ' of ' + city }),
});
const names = ['weather', 'time', 'population'];

export const rootAgent = llmAgent({
  name: 'tools_agent',
  model: 'scripted',
  instruction: 'Be brief.',
  tools: names.map(ask),
  script: [
    { after: names, text: 'It is \${weather.report}, \${time.report}, \${population.report}.' },
    { calls: names.map((name) => ({ name, args: { city: 'Paris' } })) },
  ],
});
`;

/** Writes one folder for each app, as YAML (of which JSON is a part). */
export function writeAgents(folder: string, apps: readonly App[]): void {
  for (const app of apps) {
    mkdirSync(join(folder, app), { recursive: true });
    if (app === 'tools') {
      writeFileSync(join(folder, app, 'agent.js'), threeTools);
      continue;
    }
    const agent = { name: `${app}_agent`, model: 'scripted', instruction: 'Be brief.', script: [scripts[app]()] };
    writeFileSync(join(folder, app, 'root_agent.yaml'), JSON.stringify(agent));
  }
}
