import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * What takes minutes, and seldom breaks alone: kills, outages, fuzz, soak, Pyodide, the package in a folder of its own,
 * and journeys through the browser.
 */
const long = [
  'test/acceptance/durable/**/*.test.ts',
  'test/acceptance/hostile/{endless-requests,fuzz,many-sessions,swarms}.test.ts',
  'test/acceptance/live/{many,official-ui}.test.ts',
  'test/app/packed-package.test.ts',
  'test/chaos/**/*.test.ts',
  'test/code/{memory,python/*}.test.ts',
  'test/dev-ui/{accessibility,artifacts,branches,evals,graph,hostile,keyboard,live,login,memory,repeat,runs,sessions}.test.ts',
  'test/dev-ui/{starting,state,time-and-waste,tools,trace}.test.ts',
  'test/durability/{kill,outage}.test.ts',
];

/** What changes a process for good, such as its global tracer: each of these files has a process of its own. */
const isolated = [
  'test/app/create-server.test.ts',
  'test/telemetry/{exported-spans,metrics}.test.ts',
  'test/tools/mcp/stdio.test.ts',
];

/** What compares with ADK for Python, which `npm ci` does not install: long where it is there. */
const interop = ['test/interop/**/*.test.ts'];
if (process.env['ADK_PYTHON'] !== undefined) long.push(...interop);

const project = (name: string, include: string[], options: object): TestProjectInlineConfiguration => ({
  resolve: {
    alias: Object.entries({ '': 'index', '/server': 'server/index', '/testing': 'testing/index' }).map(
      ([entry, file]) => ({
        find: new RegExp(`^agent-server${entry}$`),
        replacement: fileURLToPath(new URL(`src/${file}.ts`, import.meta.url)),
      }),
    ),
  },
  test: {
    name,
    include,
    restoreMocks: true,
    setupFiles: ['test/support/each-file.ts'],
    // A busy machine can take more than Vitest's second for anything.
    expect: { poll: { timeout: 15_000, interval: 10 } },
    // Agents are loaded by Node itself, as in the server: its hooks keep book of what they import.
    server: { deps: { external: [/[?]app-module=/] } },
    // For tests that hang: none depends on how fast the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    ...options,
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/shared.setup.ts'],
    // One more than there are cores: much of a test is waiting.
    maxWorkers: availableParallelism() + 1,
    projects: [
      // One process after the other would spend more time on loading the sources than on the tests.
      project('quick', ['test/**/*.test.ts'], {
        isolate: false,
        exclude: [...configDefaults.exclude, ...long, ...isolated, ...interop],
      }),
      project('isolated', isolated, {}),
      project('long', long, {}),
      project('interop', interop, {}),
    ],
  },
});
