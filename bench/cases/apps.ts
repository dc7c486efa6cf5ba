import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { get } from '../adk.ts';
import type { Bench } from '../bench.ts';
import { Connection } from '../connection.ts';
import { median } from '../load.ts';
import { megabytes, ms, type Row } from '../report.ts';

const APPS = 1000;
const LISTS = 50;
const STARTS = 3;

/** A server over a thousand apps, half of them YAML: its start, its list, and what the apps cost that nobody uses. */
export async function measureApps(bench: Bench): Promise<Row[]> {
  const agents = thousandApps(join(bench.folder, 'thousand'));
  const ready: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    ready.push((await bench.startOver(agents)).readyMs);
    await bench.stopAll();
  }
  const alone = (await bench.start(['quick'])).residentBytes();
  await bench.stopAll();
  const server = await bench.startOver(agents);
  const connection = new Connection(server.port);
  const lists: number[] = [];
  for (let list = 0; list < LISTS; list += 1) {
    const from = performance.now();
    const { status } = await connection.send(get('/list-apps'));
    if (status !== 200) throw new Error(`/list-apps answered ${status}`);
    lists.push(performance.now() - from);
  }
  connection.close();
  const grown = server.residentBytes() - alone;
  await bench.stopAll();
  return [
    {
      name: `start over ${APPS} apps`,
      figure: ms(median(ready)),
      goal: { text: '<= 1,500 ms', met: median(ready) <= 1500 },
    },
    {
      name: `/list-apps of ${APPS} apps, p50`,
      figure: ms(median(lists)),
      goal: { text: '<= 20 ms', met: median(lists) <= 20 },
    },
    {
      name: `RSS of ${APPS} apps nobody uses`,
      figure: megabytes(grown),
      goal: { text: '<= 30 MB', met: grown <= 30 * 1024 * 1024 },
    },
  ];
}

function thousandApps(folder: string): string {
  for (let index = 0; index < APPS; index += 1) {
    const app = join(folder, `app_${String(index).padStart(4, '0')}`);
    mkdirSync(app, { recursive: true });
    const options = `{ name: 'agent_${index}', model: 'scripted', instruction: 'Be brief.' }`;
    const code = `import { llmAgent } from 'agent-server';\nexport const rootAgent = llmAgent(${options});\n`;
    if (index % 2 === 0) writeFileSync(join(app, 'agent.ts'), code);
    else writeFileSync(join(app, 'root_agent.yaml'), options.slice(2, -2).replaceAll(', ', '\n'));
  }
  return folder;
}
