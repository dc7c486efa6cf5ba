import { toA2aPart } from '../../a2a/part-codec.ts';
import { Peer, type PeerOptions } from '../../a2a/peer.ts';
import { runTurn } from '../../a2a/run-turn.ts';
import type { A2aMessage, A2aPart } from '../../a2a/wire.ts';
import { AppError } from '../../base/errors.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { MaybePromise, ReadonlyContext, RunContext } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { shownFailure } from '../model-calls/response-event.ts';
import { remoteEvent } from './remote-event.ts';
import { nextMessage } from './remote-message.ts';

export type RemoteHeaders =
  | Readonly<Record<string, string>>
  | ((ctx: ReadonlyContext) => MaybePromise<Readonly<Record<string, string>>>);

/** The connection that all turns of an agent share; it opens with the first. */
export const connectTo = (options: PeerOptions): Peer => new Peer(options);

/** One turn of a remote agent. Loaded with the first: the A2A codec takes the schemas of the wire. */
export async function* runRemotely(
  peer: Peer,
  headers: RemoteHeaders,
  ctx: RunContext,
): AsyncGenerator<Event, void, void> {
  try {
    const { message, knownArtifacts } = messageOf(ctx);
    if (message.parts.length === 0) throw new AppError('A2AClientError', 'There is no message for the remote agent');
    const turn = {
      message,
      headers: typeof headers === 'function' ? await headers(ctx) : headers,
      knownArtifacts,
    };
    const isStreaming = ctx.runConfig.streamingMode === 'sse';
    for await (const response of runTurn(peer, turn, ctx.signal)) {
      if (response.partial && !isStreaming) continue;
      yield remoteEvent(response, message, ctx);
    }
  } catch (error) {
    ctx.signal.throwIfAborted();
    yield failureEvent(error, ctx);
  }
}

function messageOf(ctx: RunContext) {
  const { parts, knownArtifacts, ...place } = nextMessage(ctx);
  const sent = parts.flatMap((part) => toA2aPart(part) ?? []);
  const message: A2aMessage & { parts: A2aPart[] } = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: sent,
    ...place,
  };
  return { message, knownArtifacts };
}

function failureEvent(error: unknown, ctx: RunContext): Event {
  ctx.log?.warn({ agent: ctx.agent.name, err: error }, 'a remote agent failed');
  const errorCode = error instanceof AppError ? error.code : 'A2AClientError';
  const { message: errorMessage, origin } = shownFailure(error, ctx.errors);
  const metadata = origin && { customMetadata: origin };
  return newEvent(ctx, ctx.agent.name, { errorCode, errorMessage, ...metadata, turnComplete: true });
}
