import { AppError } from '../base/errors.ts';
import type { Peer, Turn } from './peer.ts';
import { type PeerItem, TurnReader } from './turn-reader.ts';

/** What has been said, and where: the ids that the next message of the conversation carries. */
export interface PeerResponse extends PeerItem {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/**
 * Sends a message and gives what the peer says until its turn is over, also after the connection is. A turn that is left
 * early is cancelled at the peer. Throws as `Peer.send` does.
 */
export async function* runTurn(peer: Peer, turn: Turn, signal: AbortSignal): AsyncGenerator<PeerResponse, void, void> {
  const reader = new TurnReader(turn.knownArtifacts);
  const located = (said: PeerItem): PeerResponse => ({ ...said, taskId: reader.taskId, contextId: reader.contextId });
  let last = {};
  try {
    try {
      for await (const update of peer.send(turn, signal)) {
        last = update;
        for (const said of reader.read(update)) yield located(said);
        if (reader.isOver) return;
      }
    } catch (error) {
      if (reader.taskId === undefined || !isLost(error)) throw error;
    }
    if (reader.taskId !== undefined) {
      for await (const update of peer.follow(reader.taskId, turn, signal)) {
        last = update;
        // A task that is looked at again and again says the same again and again, until it is over.
        if (!TurnReader.isOver(update)) continue;
        for (const said of reader.read(update)) yield located(said);
        return;
      }
    }
    for (const said of reader.flush(last)) yield located(said);
  } finally {
    if (!reader.isOver && reader.taskId !== undefined) peer.cancel(reader.taskId, turn);
  }
}

/** Whether the connection failed, and not the peer: a task may go on without it. */
const isLost = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'A2AClientError' && error.cause !== undefined;
