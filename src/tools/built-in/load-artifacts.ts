import { z } from 'zod';
import { appendInstruction, type ModelRequest } from '../../core/model.ts';
import type { CallbackContext, Tool } from '../../core/runtime.ts';
import { functionResponsesOf, type Part } from '../../schemas/content.ts';
import { functionTool } from '../function-tool.ts';
import { readablePart } from '../readable-part.ts';

const name = 'load_artifacts';

/** Lists the artifacts in the instruction and adds the requested ones to one model request. */
export const loadArtifacts: Tool = {
  ...functionTool({
    name,
    description: 'Shows the content of artifacts in the next turn.',
    parameters: z.object({ artifact_names: z.array(z.string()).describe('Names as they are listed') }),
    run: ({ artifact_names }) => ({ artifact_names }),
  }),
  async processRequest(request, ctx) {
    const names = await ctx.listArtifacts();
    if (names.length === 0) return;
    appendInstruction(
      request,
      `There are artifacts with these names: ${JSON.stringify(names)}. Their content is not shown here. Before you answer a question about one, call ${name} with its name, also when it was shown earlier.`,
    );
    await showRequested(request, ctx);
  },
};

async function showRequested(request: ModelRequest, ctx: CallbackContext): Promise<void> {
  const answers = functionResponsesOf(request.contents.at(-1)).filter((response) => response.name === name);
  const names = new Set(answers.flatMap(({ response }) => textsIn(response.artifact_names)));
  for (const artifactName of names) {
    const artifact = await load(ctx, artifactName);
    const parts: Part[] = artifact
      ? [{ text: `Artifact ${JSON.stringify(artifactName)}:` }, readablePart(artifact)]
      : [{ text: `There is no artifact ${JSON.stringify(artifactName)}.` }];
    request.contents.push({ role: 'user', parts });
  }
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];

/** Models often omit the prefix of user artifacts. */
async function load(ctx: CallbackContext, artifactName: string): Promise<Part | undefined> {
  const found = await ctx.loadArtifact(artifactName);
  return found ?? (artifactName.startsWith('user:') ? undefined : ctx.loadArtifact(`user:${artifactName}`));
}
