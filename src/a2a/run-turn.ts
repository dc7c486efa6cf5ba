import { AppError } from '../base/errors.ts';
import type { Peer, PeerRequest } from './peer.ts';
import { type PeerItem, TurnReader } from './turn-reader.ts';

/** An item with the ids that the next message of the conversation needs. */
export interface PeerResponse extends PeerItem {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/**
 * Sends a message and yields the peer's items until its turn ends, even if the connection breaks before. Cancels the task
 * when the consumer stops reading early. Throws as `Peer.send` does.
 */
export async function* runTurn(
  peer: Peer,
  request: PeerRequest,
  signal: AbortSignal,
): AsyncGenerator<PeerResponse, void, void> {
  const reader = new TurnReader(request.knownArtifacts);
  const located = (item: PeerItem): PeerResponse => ({ ...item, taskId: reader.taskId, contextId: reader.contextId });
  let last = {};
  try {
    try {
      for await (const update of peer.send(request, signal)) {
        last = update;
        for (const item of reader.read(update)) yield located(item);
        if (reader.isOver) return;
      }
    } catch (error) {
      if (reader.taskId === undefined || !isLost(error)) throw error;
    }
    if (reader.taskId !== undefined) {
      for await (const update of peer.follow(reader.taskId, request, signal)) {
        last = update;
        // Each poll repeats the whole task, so only its end is read.
        if (!TurnReader.isOver(update)) continue;
        for (const item of reader.read(update)) yield located(item);
        return;
      }
    }
    for (const item of reader.flush(last)) yield located(item);
  } finally {
    if (!reader.isOver && reader.taskId !== undefined) peer.cancel(reader.taskId, request);
  }
}

/** Whether the connection failed, and not the peer: the task may still be running. */
const isLost = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'A2AClientError' && error.cause !== undefined;
