import { cardOf } from '../../a2a/agent-card.ts';
import { remoteAgent, type RemoteAgentSpec } from '../../agents/remote/remote-agent.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Agent } from '../../core/runtime.ts';
import type { RemoteAgentConfig } from '../../schemas/agent-config.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import type { AgentFile, AgentFiles } from './agent-files.ts';
import { placed } from './placed.ts';

/**
 * An agent on another server. A card in a file is read and checked now, a card at a URL on first use, so that the app
 * loads even while that server is down.
 */
export async function buildRemoteAgent(
  config: RemoteAgentConfig,
  callbacks: Pick<RemoteAgentSpec, 'beforeAgent' | 'afterAgent'>,
  source: AgentFile,
  { files, limits }: { readonly files: AgentFiles; readonly limits: AccessLimits },
): Promise<Agent> {
  const { name, description, headers, timeout } = config;
  return remoteAgent({
    name,
    ...(description !== undefined && { description }),
    agentCard: await cardSource(config.agentCard.trim(), source, files),
    ...(headers && { headers }),
    ...(timeout !== undefined && { timeoutMs: Math.ceil(timeout * 1000) }),
    ...(limits.publicOnly && { publicOnly: true }),
    ...callbacks,
  });
}

async function cardSource(written: string, source: AgentFile, files: AgentFiles): Promise<string | JsonObject> {
  const { yaml } = source;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(written) && !/^file:/i.test(written)) {
    if (/^https?:\/\/[^/?#]/i.test(written) && URL.canParse(written)) return written;
    throw yaml.fail(['agentCard'], `"${written}" is not an http or https address`);
  }
  const card = await files.json(written, source, ['agentCard']);
  await placed(yaml, ['agentCard'], () => cardOf(card));
  return isJsonObject(card) ? card : {};
}
