import type { JsonObject, ToolContext, Toolset } from 'agent-server';

export function store({ key, value }: JsonObject, { state }: ToolContext): JsonObject {
  state.set(String(key), value);
  return { answer: 'not the recorded one' };
}

export function exploding(): never {
  throw new Error('This tool fails today');
}

export const ask_approval = (): undefined => undefined;
export const start_job = (): JsonObject => ({ status: 'started just now' });

/** Tools of a server that is not there. */
export const remote_tools: Toolset = {
  kind: 'toolset',
  getTools: () => Promise.reject(new Error('There is no such server')),
  close: () => Promise.resolve(),
};
