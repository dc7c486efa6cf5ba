import type { CardSource } from '../../a2a/agent-card.ts';
import type { Peer } from '../../a2a/peer.ts';
import { isJsonObject } from '../../base/json.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { AfterAgentCallback, Agent, BeforeAgentCallback, OneOrMany } from '../../core/runtime.ts';
import { checkAgentName } from '../tree.ts';
import type { RemoteHeaders } from './remote-run.ts';

export interface RemoteAgentSpec {
  name: string;
  /** Absent: the description in its card, once the card is loaded. */
  description?: string;
  /**
   * The agent card, of protocol 1.0 or 0.3: as an object, as a file (a path or a `file:` URL), as the URL of the card
   * (ends in `.json`), or as the URL of its server.
   */
  agentCard: CardSource;
  /** Sent with every request, for example to authenticate. */
  headers?: RemoteHeaders;
  /** Milliseconds without data from the agent before the call fails. Default 600,000. */
  timeoutMs?: number;
  /** Whether requests go to hosts on the public internet only, even where `agentCard` names another. Default false. */
  publicOnly?: boolean;
  beforeAgent?: OneOrMany<BeforeAgentCallback>;
  afterAgent?: OneOrMany<AfterAgentCallback>;
}

/**
 * An agent on another server, called over the Agent2Agent protocol. When it fails, it yields an event with an error;
 * the run continues. Throws ConfigurationException for a bad name or timeout.
 */
export function remoteAgent(spec: RemoteAgentSpec): Agent {
  const { name, agentCard, headers = {}, timeoutMs = 600_000, publicOnly, beforeAgent = [], afterAgent = [] } = spec;
  checkAgentName(name);
  checkTimeLimit(`timeoutMs of "${name}"`, timeoutMs);
  let peer: Peer | undefined;
  const given = isJsonObject(agentCard) ? agentCard['description'] : undefined;
  const known = spec.description ?? (typeof given === 'string' ? given : undefined);
  return {
    kind: 'remote',
    name,
    get description() {
      return known ?? peer?.card?.description ?? '';
    },
    callbacks: { beforeAgent: [beforeAgent].flat(), afterAgent: [afterAgent].flat() },
    async *run(ctx) {
      const { connectTo, runRemotely } = await import('./remote-run.ts');
      peer ??= connectTo({ name, card: agentCard, timeoutMs, publicOnly });
      yield* runRemotely(peer, headers, ctx);
    },
    close: async () => peer?.close(),
  };
}
