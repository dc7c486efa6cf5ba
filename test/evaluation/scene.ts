import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { App } from '../../src/core/runtime.ts';
import { Evaluations } from '../../src/evaluation/evaluations.ts';
import { staticLoader } from '../../src/loaders/static.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { RunEvalRequest } from '../../src/schemas/evaluation/eval-result.ts';
import { EvalSet } from '../../src/schemas/evaluation/eval-set.ts';
import type { ScriptRule } from '../../src/schemas/script.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { functionTool } from '../../src/tools/function-tool.ts';

export const neverAborts = new AbortController().signal;

/** A folder that is gone after the test. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evaluation-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const weatherScript: ScriptRule[] = [
  { match: String.raw`weather in (\w+)`, calls: [{ name: 'get_weather', args: { city: '$1' } }] },
  { after: 'get_weather', text: 'It is ${get_weather.report}.' },
  { text: 'Hello! Ask me about the weather.' },
];

const getWeather = functionTool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  run: ({ city }, { state }) => {
    state.set('user:lastCity', city);
    return { report: `sunny in ${city}` };
  },
});

export const weatherApp = (script: readonly ScriptRule[] = weatherScript, more: Partial<App> = {}): App => ({
  name: 'weather',
  rootAgent: llmAgent({ name: 'weather', model: 'scripted', script: [...script], tools: [getWeather] }),
  ...more,
});

/** The evaluations of one app over services in memory; the files are in memory, too, unless it has a folder. */
export function evaluationsOf(app: App = weatherApp()) {
  const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
  const evaluations = new Evaluations({
    loader: staticLoader([app]),
    services,
    models: createModelRegistry({ env: {} }),
  });
  return { evaluations, services };
}

/** A case of the given turns: what is said, which city's weather is asked for, and what the answer shall be. */
export const caseOf = (evalId: string, ...turns: readonly (readonly [string, string | undefined, string])[]) => ({
  evalId,
  conversation: turns.map(([said, city, answer]) => ({
    userContent: { role: 'user', parts: [{ text: said }] },
    finalResponse: { role: 'model', parts: [{ text: answer }] },
    intermediateData: { toolUses: city === undefined ? [] : [{ name: 'get_weather', args: { city } }] },
  })),
});

export const paris = ['weather in Paris', 'Paris', 'It is sunny in Paris.'] as const;
export const hello = ['hello', undefined, 'Hello! Ask me about the weather.'] as const;

export const setOf = (...cases: readonly object[]): EvalSet => EvalSet.parse({ evalSetId: 'set', evalCases: cases });
export const requestOf = (fields: object = {}): RunEvalRequest => RunEvalRequest.parse(fields);
