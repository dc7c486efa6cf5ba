import {
  type CallbackContext,
  type Content,
  newEvent,
  type RunConfig,
  type RunContext,
  type RunRequest,
} from 'agent-server';
import { expect, expectTypeOf, it } from 'vitest';
import { Content as ContentSchema } from '../../src/schemas/content-schema.ts';
import type { Part } from '../../src/schemas/content.ts';
import { Event } from '../../src/schemas/event-schema.ts';
import { RunConfig as RunConfigSchema } from '../../src/schemas/run.ts';

// What does not compile here is checked by `npm run typecheck`: an error that is expected and does not come is one.

const key = { appName: 'app', userId: 'ada', sessionId: 's1', streaming: false };
const ctx: Pick<RunContext, 'invocationId'> = { invocationId: 'e-1' };

it('has misspelled fields refused by the compiler', () => {
  // @ts-expect-error: it is `content`
  newEvent(ctx, 'x', { contnet: { role: 'model', parts: [] } });
  // @ts-expect-error: it is `stateDelta`
  newEvent(ctx, 'x', { actions: { statDelta: {} } });
  // @ts-expect-error: it is `newMessage`
  const request: RunRequest = { ...key, newMesage: { parts: [] } };
  // @ts-expect-error: it is `parts`
  const content: Content = { role: 'user', part: [] };
  // @ts-expect-error: it is `maxLlmCalls`
  const config: RunConfig = { maxLLMCalls: 3 };
  // @ts-expect-error: the same within a request
  const limited: RunRequest = { ...key, runConfig: { maxLLMCalls: 3 } };
  // @ts-expect-error: it is `functionCall`
  const part: Part = { function_call: { name: 'f' } };

  expect([request, content, config, limited, part]).toHaveLength(5);
});

it('has writes to the session of a context refused by the compiler', () => {
  const write = ({ session }: CallbackContext): void => {
    // @ts-expect-error: `state.set` of the context is the way
    session.state['color'] = 'blue';
    // @ts-expect-error: events are stored by the runtime
    session.events.push({});
    // @ts-expect-error: nobody renames a session
    session.id = 'other';
  };
  const writeInRun = ({ session }: RunContext): void => {
    // @ts-expect-error: agents put changes into the events they yield
    session.state['color'] = 'blue';
  };

  expect([write, writeInRun]).toHaveLength(2);
});

it('lets what it does not know pass at run time', () => {
  expect(ContentSchema.parse({ parts: [{ newKind: { x: 1 } }], extra: 1 })).toEqual({
    parts: [{ newKind: { x: 1 } }],
    extra: 1,
  });
  expect(RunConfigSchema.parse({ avatarConfig: {} })).toEqual({ avatarConfig: {} });
  expect(Event.parse({ id: '1', author: 'a', timestamp: 1, newField: [1] })).toMatchObject({ newField: [1] });
  expectTypeOf<keyof RunConfig>().not.toEqualTypeOf<string>();
});
