import type { Agent, App } from '../core/runtime.ts';

interface Closable {
  close?(): Promise<void>;
}

/**
 * Closes an app's agents, toolsets and plugins, except those that other versions of it use, too: versions share
 * unchanged modules, and so the toolsets that these export. Returns the failures.
 */
export async function closeApp(app: App, others: readonly App[]): Promise<unknown[]> {
  const kept = new Set<unknown>();
  for (const other of others) {
    other.plugins?.forEach((plugin) => kept.add(plugin));
    for (const agent of agentsOf(other)) [agent, ...(agent.tools ?? [])].forEach((held) => kept.add(held));
  }

  const closing: Closable[] = (app.plugins ?? []).filter((plugin) => !kept.has(plugin));
  for (const agent of agentsOf(app)) {
    if (kept.has(agent)) continue;
    const tools = (agent.tools ?? []).filter((tool) => tool.close !== undefined);
    const isSharing = tools.some((tool) => kept.has(tool));
    closing.push(...(isSharing ? tools.filter((tool) => !kept.has(tool)) : [agent]));
  }
  const results = await Promise.allSettled(closing.map(async (held) => await held.close?.()));
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

/** Every agent of the app's tree, once. */
function agentsOf({ rootAgent }: App): Agent[] {
  const found = new Set([rootAgent]);
  for (const agent of found) agent.subAgents?.forEach((child) => found.add(child));
  return [...found];
}
