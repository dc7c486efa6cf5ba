import { randomUUID } from 'node:crypto';
import type { CardSource } from '../a2a/agent-card.ts';
import { toA2aPart } from '../a2a/part-codec.ts';
import { Peer } from '../a2a/peer.ts';
import { runTurn } from '../a2a/run-turn.ts';
import type { A2aMessage, A2aPart } from '../a2a/wire.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { checkTimeLimit } from '../base/timers.ts';
import { newEvent } from '../core/new-event.ts';
import type {
  AfterAgentCallback,
  Agent,
  BeforeAgentCallback,
  MaybePromise,
  OneOrMany,
  ReadonlyContext,
  RunContext,
} from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { remoteEvent } from './remote-event.ts';
import { nextMessage } from './remote-message.ts';
import { shownFailure } from './response-event.ts';
import { checkAgentName } from './tree.ts';

export interface RemoteAgentSpec {
  name: string;
  /** Absent: what its card says, as soon as that is known. */
  description?: string;
  /**
   * The agent card, of protocol 1.0 or 0.3: itself, a file (a path or a `file:` URL), its address (ends in `.json`), or
   * that of its server.
   */
  agentCard: CardSource;
  /** Sent with every request, for servers that want to know who asks. */
  headers?:
    | Readonly<Record<string, string>>
    | ((ctx: ReadonlyContext) => MaybePromise<Readonly<Record<string, string>>>);
  /** Milliseconds without a sign of the agent before it is given up. Default 600,000. */
  timeoutMs?: number;
  /** Whether only hosts on the public internet are asked, even where `agentCard` names another. Default false. */
  publicOnly?: boolean;
  beforeAgent?: OneOrMany<BeforeAgentCallback>;
  afterAgent?: OneOrMany<AfterAgentCallback>;
}

/**
 * An agent on another server, called over the Agent2Agent protocol. Its failures become an event with an
 * error, never the end of the run. Throws ConfigurationException for a bad name or timeout.
 */
export function remoteAgent(spec: RemoteAgentSpec): Agent {
  const { name, agentCard, headers = {}, timeoutMs = 600_000, publicOnly, beforeAgent = [], afterAgent = [] } = spec;
  checkAgentName(name);
  checkTimeLimit(`timeoutMs of "${name}"`, timeoutMs);
  const peer = new Peer({ name, card: agentCard, timeoutMs, publicOnly });
  const given = isJsonObject(agentCard) ? agentCard['description'] : undefined;
  const known = spec.description ?? (typeof given === 'string' ? given : undefined);
  return {
    kind: 'remote',
    name,
    get description() {
      return known ?? peer.card?.description ?? '';
    },
    callbacks: { beforeAgent: [beforeAgent].flat(), afterAgent: [afterAgent].flat() },
    run: (ctx) => runRemotely(peer, headers, ctx),
    close: () => peer.close(),
  };
}

async function* runRemotely(
  peer: Peer,
  headers: NonNullable<RemoteAgentSpec['headers']>,
  ctx: RunContext,
): AsyncGenerator<Event, void, void> {
  try {
    const { message, knownArtifacts } = messageOf(ctx);
    if (message.parts.length === 0) throw new AppError('A2AClientError', 'There is nothing to tell the remote agent');
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
    messageId: randomUUID(),
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
