import { indexTree } from '../agents/tree.ts';
import type { App } from '../core/runtime.ts';

/** What the agents of an app are told and may call, as a judge reads it. Tools that are looked up later are left out. */
export function agentsText({ rootAgent }: App): string {
  return indexTree(rootAgent)
    .agents.map(({ name, description = '', instruction = '', tools = [] }) => {
      const declared = tools.flatMap((tool) => (tool.kind === 'tool' && tool.declaration ? [tool.declaration] : []));
      const lines = declared.map((declaration) => `tool: ${JSON.stringify(declaration)}`);
      return [`agent ${name}: ${description}`, instruction, ...lines].filter((line) => line !== '').join('\n');
    })
    .join('\n\n');
}
