import type { LiveInput, Model } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { enterLive } from '../enter.ts';
import { joinSections } from '../instructions.ts';
import type { LlmDefinition } from '../llm-definition.ts';
import { type LlmPlan, modelFor, planFor } from '../llm-plan.ts';
import { stepTools } from '../step-tools.ts';
import { transferTarget } from '../transfer.ts';
import { type ConnectedModel, converse } from './conversation.ts';
import { SharedInput } from './shared-input.ts';
import { isStep, taskCompleted, taskCompletedText } from './task-completed.ts';
import { serveTurns, takesMedia } from './turns.ts';

/** Answers one message of the user, by the plan given. */
export type TakeTurn = (ctx: RunContext, plan: LlmPlan) => AsyncIterable<Event>;

/**
 * Talks with a live client until it has nothing more to say, or until another agent is handed over to, which then
 * goes on with the same client.
 */
export function runLive(
  definition: LlmDefinition,
  { ctx, input, takeTurn }: { ctx: RunContext; input: AsyncIterable<LiveInput>; takeTurn: TakeTurn },
): AsyncIterable<Event> {
  const shared = SharedInput.of(input);
  const plan = livePlan(planFor(definition, ctx), ctx);
  const model = modelFor(plan, ctx);
  const connected = hasConnection(model) ? model : undefined;
  const beyond = async function* (outcome: string | typeof takesMedia): AsyncGenerator<Event, void, void> {
    let target: string | undefined = typeof outcome === 'string' ? outcome : undefined;
    if (connected && target === undefined) target = yield* converse({ plan, model: connected }, ctx, shared);
    if (target !== undefined) yield* enterLive(transferTarget(target, ctx), ctx, shared);
  };
  if (connected && connected.connectsFor !== 'media') return beyond(takesMedia);
  const turn = (turnCtx: RunContext): AsyncIterable<Event> => takeTurn(turnCtx, plan);
  return serveTurns({ turn, canConnect: connected !== undefined, beyond }, ctx, shared);
}

const hasConnection = (model: Model): model is ConnectedModel => model.connect !== undefined;

/** An agent of a sequence has to be able to say that it is done: there is no end of its turn to tell by. */
function livePlan(plan: LlmPlan, ctx: RunContext): LlmPlan {
  if (!isStep(ctx)) return plan;
  const tools = [...plan.tools, taskCompleted];
  return {
    ...plan,
    tools,
    fixedTools: plan.fixedTools && stepTools(plan.definition.name, tools),
    transferText: joinSections([plan.transferText, taskCompletedText]),
  };
}
