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
import { deleteOldUsage, deleteSessionUsage, releaseUsage, reserveUsage, settleUsage } from '../usage/sqlite-writes.ts';
import type { WriteContext } from './dialect.ts';

/** All writes to a database, by name: the operations of the writer thread. */
export const writes = {
  /** Checks whether the database is writable. */
  check({ connection }: WriteContext): void {
    // Writes without a change: a transaction without writes would need neither permission nor disk space.
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
  reserveUsage,
  settleUsage,
  releaseUsage,
  deleteSessionUsage,
  deleteOldUsage,
};

export type WriteName = keyof typeof writes;
export type WriteInput<Name extends WriteName> = Parameters<(typeof writes)[Name]>[1];
export type WriteOutput<Name extends WriteName> = ReturnType<(typeof writes)[Name]>;

/** One write; `input` is the argument of the named operation. */
export interface Write {
  readonly name: WriteName;
  readonly input: unknown;
}

export function applyWrite(context: WriteContext, { name, input }: Write): unknown {
  const write = writes[name] as (context: WriteContext, input: unknown) => unknown; // the sender is typed
  return write(context, input);
}
