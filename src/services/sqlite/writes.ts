import {
  deleteArtifact,
  deleteOldArtifacts,
  deleteSessionArtifacts,
  saveArtifact,
} from '../artifacts/sqlite-writes.ts';
import { addApiKey, revokeApiKey } from '../keys/sqlite-writes.ts';
import { forgetMemory, remember } from '../memories/sqlite-writes.ts';
import {
  storeHeartbeat,
  tryStartRun,
  cancelAllRuns,
  cancelActiveRun,
  cancelRun,
  enqueueRun,
  finishRun,
  forgetEndedRuns,
  forgetIdempotencyKey,
  releaseRuns,
  keepSecret,
  takeOverRun,
} from '../runs/sqlite-writes.ts';
import { appendEvent, createSession, deleteSession } from '../sessions/sqlite-writes.ts';
import type { WriteContext } from './dialect.ts';

/** Everything that changes a database, by name: what the writing thread can be asked to do. */
export const writes = {
  /** Finds out whether the database can be written. */
  check({ connection }: WriteContext): void {
    // Changes nothing, but is written all the same: a transaction without writes needs neither the right nor room.
    connection.run('update agent_schema set applied_at = applied_at');
  },
  appendEvent,
  createSession,
  deleteSession,
  remember,
  forgetMemory,
  saveArtifact,
  deleteArtifact,
  deleteSessionArtifacts,
  deleteOldArtifacts,
  enqueueRun,
  tryStartRun,
  finishRun,
  cancelRun,
  cancelAllRuns,
  cancelActiveRun,
  forgetIdempotencyKey,
  storeHeartbeat,
  takeOverRun,
  releaseRuns,
  forgetEndedRuns,
  keepSecret,
  addApiKey,
  revokeApiKey,
};

export type WriteName = keyof typeof writes;
export type WriteInput<Name extends WriteName> = Parameters<(typeof writes)[Name]>[1];
export type WriteOutput<Name extends WriteName> = ReturnType<(typeof writes)[Name]>;

/** One thing to do; `input` is what the named write takes. */
export interface Write {
  readonly name: WriteName;
  readonly input: unknown;
}

export function applyWrite(context: WriteContext, { name, input }: Write): unknown {
  const write = writes[name] as (context: WriteContext, input: unknown) => unknown; // the sender is typed
  return write(context, input);
}
