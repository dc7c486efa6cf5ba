import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

// The three entries as they are built, in a process of their own.

const entry = (file: string): string => JSON.stringify(pathToFileURL(`dist/${file}.js`).href);

/** What a program writes to its standard output, as JSON. */
const outputOf = (program: string): unknown =>
  JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));

const loadedBy = (file: string): string[] =>
  outputOf(`
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    await import(${entry(file)});
    console.log(JSON.stringify(urls));
  `) as string[];

it('loads few files with agent-server, no other package, and of Node only what is small', () => {
  const urls = loadedBy('index');
  const own = urls.filter((url) => url.startsWith(pathToFileURL('dist/').href));
  const others = urls.filter((url) => !own.includes(url));

  expect(own.length).toBeGreaterThan(1);
  expect(own.length).toBeLessThanOrEqual(40);
  expect(others.toSorted()).toEqual(['node:timers/promises', 'node:vm']);
});

it('makes no schema of the wire with agent-server', () => {
  /** The sources in the files that an entry loads. */
  const sourcesOf = (file: string): string[] =>
    loadedBy(file)
      .map((url) => new URL(`${url}.map`))
      .filter(({ pathname }) => existsSync(pathname))
      .flatMap((map) => (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources)
      .flatMap((source) => /\/src\/(schemas\/.*)/.exec(source)?.[1] ?? []);

  expect(sourcesOf('index')).toContain('schemas/event.ts');
  expect(sourcesOf('index').filter((source) => source.endsWith('-schema.ts'))).toEqual([]);
  expect(sourcesOf('server/index')).toContain('schemas/event-schema.ts');
});

it('has every class once, whichever entry it comes from', () => {
  const program = `
    const [agents, server, testing] = await Promise.all(
      [${['index', 'server/index', 'testing/index'].map(entry).join(', ')}].map((url) => import(url)),
    );
    const shared = (one, other) => Object.keys(one).filter((name) => name in other);
    const pairs = [[agents, server], [agents, testing], [server, testing]];
    console.log(JSON.stringify(pairs.map(([one, other]) => ({
      shared: shared(one, other),
      different: shared(one, other).filter((name) => one[name] !== other[name]),
    }))));
  `;
  const pairs = outputOf(program) as { shared: string[]; different: string[] }[];

  expect(pairs.flatMap(({ shared }) => shared)).toEqual(
    expect.arrayContaining(['AppError', 'InMemorySessions', 'InMemoryCredentials', 'scriptedModel']),
  );
  expect(pairs.flatMap(({ different }) => different)).toEqual([]);
});

it('finds the files that its threads start with', () => {
  const program = `
    import { javascriptSandbox } from ${entry('index')};
    const ctx = { signal: AbortSignal.timeout(60_000), session: { appName: 'a', userId: 'u', id: 's' } };
    const sandbox = javascriptSandbox({ timeoutMs: 20_000 });
    const { stdout } = await sandbox.execute({ code: 'console.log(6 * 7)', inputFiles: [] }, ctx);
    await sandbox.close();
    console.log(JSON.stringify(stdout));
  `;

  expect(outputOf(program)).toBe('42\n');
});

it('reads schemas of the zod that an author imports', () => {
  const program = `
    import { z } from 'zod';
    import { functionTool, llmAgent } from ${entry('index')};
    import { callTool } from ${entry('testing/index')};
    const parameters = z.object({ city: z.string().min(2), at: z.coerce.number().default(3).describe('The hour') });
    const tool = functionTool({ name: 'weather', description: '', parameters, run: (args) => args });
    const answers = [await callTool(tool, { city: 'Oslo' }), await callTool(tool, { city: 'O' })];
    const { outputSchema } = llmAgent({ name: 'a', outputSchema: z.array(z.enum(['x', 'y'])) });
    const responses = answers.map(({ response }) => response);
    console.log(JSON.stringify({ declared: tool.declaration.parameters, responses, outputSchema }));
  `;

  expect(outputOf(program)).toEqual({
    declared: {
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 2 },
        at: { type: 'number', default: 3, description: 'The hour' },
      },
      required: ['city'],
    },
    responses: [{ city: 'Oslo', at: 3 }, { error: expect.stringContaining('city: Too small') }],
    outputSchema: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
  });
});
