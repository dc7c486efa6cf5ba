import { llmAgent } from 'agent-server';
import { badTools } from './bad-tools.ts';
import { stateTools } from './state-tools.ts';

const names = ['throws', 'throws_odd', 'rejects_late', 'never', 'big'];

/** Calls one tool by command: `echo hi`, `increment n`, `loop`, `count SESSION`, `odd bigint`, `never` … */
export const rootAgent = llmAgent({
  name: 'probe_agent',
  description: 'Calls the tool it is told to.',
  model: 'scripted',
  instruction: 'You call tools.',
  tools: [...stateTools, ...badTools],
  script: [
    { after: 'spin', calls: [{ name: 'spin', args: {} }] },
    { after: 'tick', calls: [{ name: 'tick', args: {} }] },
    { after: 'echo', text: '${echo.text}' },
    { after: 'increment', text: 'n is ${increment.value}' },
    { after: 'count_of', text: '${count_of.count}' },
    { match: '^loop$', calls: [{ name: 'tick', args: {} }] },
    { match: '^spin$', calls: [{ name: 'spin', args: {} }] },
    { match: '^echo (.+)$', calls: [{ name: 'echo', args: { text: '$1' } }] },
    { match: '^increment (.+)$', calls: [{ name: 'increment', args: { key: '$1' } }] },
    { match: '^count (.+)$', calls: [{ name: 'count_of', args: { session: '$1' } }] },
    { match: '^remember (\\S+) (\\S+)$', calls: [{ name: 'remember', args: { key: '$1', value: '$2' } }] },
    { match: '^save (\\S+) (.+)$', calls: [{ name: 'save_note', args: { name: '$1', text: '$2' } }] },
    { match: '^odd (\\w+)$', calls: [{ name: 'odd', args: { kind: '$1' } }] },
    { match: '^unknown$', calls: [{ name: 'no_such_tool', args: {} }] },
    { match: '^bad args$', calls: [{ name: 'echo', args: { text: 7 } }] },
    {
      match: '^three$',
      calls: ['a', 'b', 'c'].map((text) => ({ name: 'echo', args: { text } })),
    },
    ...names.map((name) => ({ match: `^${name}$`, calls: [{ name, args: {} }] })),
    ...[...names, 'odd', 'remember', 'save_note', 'no_such_tool'].map((name) => ({
      after: name,
      text: `${name} is over`,
    })),
    { text: 'Hello!' },
  ].toSorted((a, b) => Number('after' in b) - Number('after' in a)),
});
