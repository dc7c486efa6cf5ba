import type { LiveInput, Model } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { joinSections } from '../definition/instructions.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import { type LlmPlan, modelFor, planFor } from '../llm-plan.ts';
import { runSubAgentLive } from '../run-sub-agent.ts';
import { stepTools } from '../tool-calls/step-tools.ts';
import { transferTarget } from '../transfer.ts';
import { type ConnectedModel, converse } from './conversation.ts';
import { HandoverInput } from './handover-input.ts';
import { isSequenceStep, taskCompleted, taskCompletedText } from './task-completed.ts';
import { serveTurnByTurn, needsConnection } from './turn-by-turn.ts';

/** Runs one turn: answers the context's message by the plan. */
export type RunTurn = (ctx: RunContext, plan: LlmPlan) => AsyncIterable<Event>;

/**
 * Runs an LLM agent for a live client until the client's input ends. Decides between a connection to the model
 * (`conversation.ts`) and one turn for each message (`turn-by-turn.ts`). After a transfer, the target agent continues
 * with the same client.
 */
export function runLive(
  definition: LlmDefinition,
  { ctx, input, runTurn }: { ctx: RunContext; input: AsyncIterable<LiveInput>; runTurn: RunTurn },
): AsyncIterable<Event> {
  const handoverInput = HandoverInput.of(input);
  const plan = livePlan(planFor(definition, ctx), ctx);
  const model = modelFor(plan, ctx);
  const connected = canConnect(model) ? model : undefined;
  const continueWith = async function* (outcome: string | typeof needsConnection): AsyncGenerator<Event, void, void> {
    let target: string | undefined = typeof outcome === 'string' ? outcome : undefined;
    if (connected && target === undefined) target = yield* converse({ plan, model: connected }, ctx, handoverInput);
    if (target !== undefined) yield* runSubAgentLive(transferTarget(target, ctx), ctx, handoverInput);
  };
  if (connected && connected.connectsFor !== 'media') return continueWith(needsConnection);
  return serveTurnByTurn(
    { runTurn: (turnCtx) => runTurn(turnCtx, plan), canConnect: connected !== undefined, continueWith },
    ctx,
    handoverInput,
  );
}

const canConnect = (model: Model): model is ConnectedModel => model.connect !== undefined;

/** Adds `task_completed` for an agent of a sequence: a live conversation has no end by which the next agent could start. */
function livePlan(plan: LlmPlan, ctx: RunContext): LlmPlan {
  if (!isSequenceStep(ctx)) return plan;
  const tools = [...plan.tools, taskCompleted];
  return {
    ...plan,
    tools,
    fixedTools: plan.fixedTools && stepTools(plan.definition.name, tools),
    transferText: joinSections([plan.transferText, taskCompletedText]),
  };
}
