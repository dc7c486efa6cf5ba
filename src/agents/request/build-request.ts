import { cloneJson } from '../../base/json.ts';
import { callHook, hasHook } from '../../core/hooks.ts';
import { appendInstruction, type GenerateConfig, type ModelRequest } from '../../core/model.ts';
import type { MaybePromise, RunContext } from '../../core/runtime.ts';
import { type Content, textOf } from '../../schemas/content.ts';
import { examplesText } from '../../tools/built-in/examples.ts';
import { CallbackContextImpl } from '../callback-context.ts';
import { codeAsText } from '../code-execution/code-blocks.ts';
import { isLocal } from '../code-execution/code-execution.ts';
import { dataFilesIn, withFileNames } from '../code-execution/data-files.ts';
import { joinSections } from '../definition/instructions.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import { type LlmPlan, toolsOf } from '../llm-plan.ts';
import { answerTool, answerToolText, needsAnswerTool, setResponseSchema } from '../output-schema.ts';
import { answerToolName } from '../reserved-names.ts';
import { missingText, only, type StepTools, withTool } from '../tool-calls/step-tools.ts';
import { buildContents, type View } from './contents.ts';
import { groupsCalls } from './grouping.ts';
import type { ContentsSource } from './request-text.ts';

/** The request of one step, and the tools that its response may call. */
export interface LlmStep {
  readonly request: ModelRequest;
  readonly tools: StepTools;
  /** How a trace rebuilds the contents from the session. `undefined` when they were changed since. */
  readonly contentsSource: ContentsSource | undefined;
  /** The context that the callbacks of this step share; absent until one needs it. */
  readonly callbacks: CallbackContextImpl | undefined;
}

/** Builds the request of one step for a model of this name, in the order of ADK's request processors. */
export async function buildRequest(plan: LlmPlan, model: string, ctx: RunContext): Promise<LlmStep> {
  const { definition } = plan;
  let tools = plan.fixedTools ?? (await toolsOf(plan, ctx));
  const answersByTool = definition.outputSchema !== undefined && needsAnswerTool(model, plan.tools.length > 0);
  if (definition.outputSchema && answersByTool) {
    tools = withTool(definition.name, tools, answerTool(definition.outputSchema));
  }
  const isEdited = tools.requestProcessors.length > 0 || hasHook(ctx, 'beforeModel', definition.callbacks.beforeModel);
  let callbacks = isEdited ? new CallbackContextImpl(ctx) : undefined;
  if (hasHook(ctx, 'beforeToolSelection'))
    tools = await selectTools(tools, (callbacks ??= new CallbackContextImpl(ctx)));

  const config: GenerateConfig = isEdited ? cloneJson(definition.config) : { ...definition.config };
  if (definition.planner?.thinkingConfig) config.thinkingConfig = definition.planner.thinkingConfig;
  if (definition.outputSchema && !answersByTool) setResponseSchema(config, definition.outputSchema);
  const { contents, contentsSource } = contentsFor(definition, viewOf(definition, model, ctx), ctx, isEdited);
  const instruction = instructionTexts(plan, ctx);
  setInstruction(plan, config, {
    contents,
    answersByTool,
    texts: instruction instanceof Promise ? await instruction : instruction,
  });
  if (tools.declarations.length > 0) {
    config.tools = [{ functionDeclarations: isEdited ? cloneJson([...tools.declarations]) : [...tools.declarations] }];
  }
  const request: ModelRequest = { model, contents, config, stream: ctx.runConfig.streamingMode === 'sse' };
  if (ctx.app.contextCache) request.contextCache = ctx.app.contextCache;
  if (definition.codeExecutor) await definition.codeExecutor.processRequest?.(request);
  appendInstruction(request, missingText(tools.missing));
  if (callbacks) for (const item of tools.requestProcessors) await item.processRequest?.(request, callbacks);
  return { request, tools, contentsSource, callbacks };
}

const viewOf = (definition: LlmDefinition, model: string, { branch, runConfig }: RunContext): View => ({
  agent: definition.name,
  branch,
  currentTurnOnly: definition.currentTurnOnly,
  callsFirst: groupsCalls(model, runConfig),
});

/** The history for the model. Copied only when a hook or tool may edit it: stored events are frozen. */
function contentsFor(
  definition: LlmDefinition,
  view: View,
  ctx: RunContext,
  isEdited: boolean,
): Pick<LlmStep, 'contentsSource'> & { contents: Content[] } {
  const { events } = ctx.session;
  const contents = buildContents(events, view);
  const { codeExecutor } = definition;
  if (!isEdited && !definition.planner && !codeExecutor && definition.staticInstruction === '') {
    // Histories only grow, so the number of events identifies what a request was made of.
    return { contents, contentsSource: { count: events.length, view } };
  }
  let seen = definition.planner?.readAnswer ? contents.map(withPlans) : contents;
  if (isLocal(codeExecutor)) {
    if (codeExecutor.optimizeDataFile) seen = withFileNames(seen, dataFilesIn(ctx.session.events));
    seen = seen.map((content) => codeAsText(content, codeExecutor));
  }
  return { contents: isEdited ? cloneJson(seen) : seen, contentsSource: undefined };
}

/** The planner's text is stored as a thought; the model gets it back as the text it wrote. */
function withPlans(content: Content): Content {
  if (!content.parts.some(({ thought, text }) => thought && text !== undefined)) return content;
  return { ...content, parts: content.parts.map((part) => (part.thought ? { ...part, thought: undefined } : part)) };
}

/** What the app and the agent tell the model, and the examples they give. */
interface InstructionTexts {
  readonly shared: string;
  readonly own: string;
  readonly examples: string;
}

/** A promise only when an instruction or example provider returns one. */
function instructionTexts({ globalInstruction, definition }: LlmPlan, ctx: RunContext): MaybePromise<InstructionTexts> {
  const shared = globalInstruction?.(ctx) ?? '';
  const own = definition.instruction?.(ctx) ?? '';
  const examples = definition.examples ? examplesFor(definition.examples, ctx) : '';
  if (typeof shared === 'string' && typeof own === 'string' && typeof examples === 'string') {
    return { shared, own, examples };
  }
  return Promise.all([shared, own, examples]).then((texts) => ({
    shared: texts[0],
    own: texts[1],
    examples: texts[2],
  }));
}

function setInstruction(
  plan: LlmPlan,
  config: GenerateConfig,
  { contents, answersByTool, texts }: { contents: Content[]; answersByTool: boolean; texts: InstructionTexts },
): void {
  const { definition } = plan;
  let { own } = texts;
  if (definition.staticInstruction !== '') {
    if (own !== '') contents.splice(startOfUserTurn(contents), 0, { role: 'user', parts: [{ text: own }] });
    own = definition.staticInstruction;
  }
  const text = joinSections([
    texts.shared,
    own,
    texts.examples,
    plan.identity,
    definition.planner?.instruction ?? '',
    answersByTool ? answerToolText : '',
    plan.transferText,
  ]);
  if (text !== '') config.systemInstruction = text;
}

async function examplesFor(examples: NonNullable<LlmDefinition['examples']>, ctx: RunContext): Promise<string> {
  return examplesText(typeof examples === 'function' ? await examples(textOf(ctx.userContent)) : examples);
}

/** The index of the user's newest messages. Function responses do not count as such. */
function startOfUserTurn(contents: readonly Content[]): number {
  let at = contents.length;
  while (at > 0) {
    const content = contents[at - 1];
    if (content?.role !== 'user' || content.parts.some(({ functionResponse }) => functionResponse)) break;
    at -= 1;
  }
  return at;
}

/** Lets plugins narrow the model's tools; the tool for the final answer always stays. */
async function selectTools(tools: StepTools, callbacks: CallbackContextImpl): Promise<StepTools> {
  let left = tools;
  for (const plugin of callbacks.run.plugins) {
    const params = { tools: left.byName, context: callbacks };
    const names = await callHook(callbacks.run, plugin, 'beforeToolSelection', params);
    if (names) left = only(left, new Set([...names, answerToolName]));
  }
  return left;
}
