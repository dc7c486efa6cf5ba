import { Readable } from 'node:stream';
import { z } from 'zod';
import type { AppTests } from '../../../evaluation/app-tests.ts';
import { lenient } from '../../../schemas/lenient.ts';
import type { ActiveRuns } from '../../active-runs.ts';
import { type Operation, operation } from '../../operation.ts';
import { AppParams } from '../../requests/path-params.ts';

const tag = 'Evaluation';
const TestParams = AppParams.extend({ testName: z.string().min(1).max(255) });
const TestQuery = lenient({ testName: z.string().max(255).optional() });
const CreateTest = lenient({ sessionData: z.record(z.string(), z.unknown()) });
const Success = z.object({ status: z.literal('success') });
const success = { status: 'success' } as const;

/** The tests of an app: sessions that are played again with what the models answered then. As ADK for Python has them. */
export function testOperations({ tests, active }: { tests: AppTests; active: ActiveRuns }): Operation[] {
  const paths = (tail: string): [string, string] => [`/dev/apps/{appName}/tests${tail}`, `/dev/{appName}/tests${tail}`];
  return [
    operation({
      method: 'GET',
      paths: paths(''),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'List the test files of an app',
      params: AppParams,
      response: { schema: z.array(z.string()) },
      handle: ({ params }) => tests.list(params.appName),
    }),
    operation({
      method: 'POST',
      paths: paths('/rebuild'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Run the agent anew for a test, or for all, and keep what it does',
      params: AppParams,
      query: TestQuery,
      response: { schema: Success },
      async handle({ params, query }, { reply }) {
        const run = active.open(reply.raw);
        try {
          await tests.rebuild(params.appName, query.testName, run.signal);
          return success;
        } finally {
          run.done();
        }
      },
    }),
    operation({
      method: 'POST',
      paths: paths('/run'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Run a test, or all, and stream how it goes',
      params: AppParams,
      query: TestQuery,
      response: { mediaType: 'text/plain', description: 'A line for each test, as it ends' },
      async handle({ params, query }, { reply }) {
        const run = active.open(reply.raw);
        const lines = tests.run(params.appName, query.testName, run.signal);
        try {
          const first = await lines.next(); // what is the caller's fault is told before the stream begins
          const stream = Readable.from(linesAfter(String(first.value), lines, run));
          return reply.header('content-type', 'text/plain; charset=utf-8').send(stream);
        } catch (error) {
          run.done();
          throw error;
        }
      },
    }),
    operation({
      method: 'GET',
      paths: paths('/{testName}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Get a test: a session with its events',
      params: TestParams,
      response: { schema: z.record(z.string(), z.unknown()) },
      handle: ({ params }) => tests.get(params.appName, params.testName),
    }),
    operation({
      method: 'PUT',
      paths: paths('/{testName}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Make a test of a session, or replace one',
      params: TestParams,
      body: CreateTest,
      response: { schema: Success.extend({ file: z.string() }) },
      async handle({ params: { appName, testName }, body }) {
        return { ...success, file: await tests.save(appName, testName, body.sessionData) };
      },
    }),
    operation({
      method: 'DELETE',
      paths: paths('/{testName}'),
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Delete a test',
      params: TestParams,
      response: { schema: Success },
      async handle({ params: { appName, testName } }) {
        await tests.delete(appName, testName);
        return success;
      },
    }),
  ];
}

async function* linesAfter(
  first: string,
  lines: AsyncIterable<string>,
  run: { done(): void },
): AsyncGenerator<string, void, void> {
  try {
    yield first;
    yield* lines;
  } finally {
    run.done();
  }
}
