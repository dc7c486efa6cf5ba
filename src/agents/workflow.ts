import { LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { merge } from '../base/merge.ts';
import type {
  AfterAgentCallback,
  Agent,
  AgentCallbacks,
  BeforeAgentCallback,
  OneOrMany,
  RunContext,
} from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { type WorkflowPosition, positionOf } from './continuation.ts';
import { HandoverInput } from './live/handover-input.ts';
import { type ResumePoint, resumePoint, callsSince, isWaiting } from './pause.ts';
import { runSubAgent, runSubAgentLive } from './run-sub-agent.ts';
import { checkAgentName, checkSiblings } from './tree.ts';

export interface WorkflowSpec {
  name: string;
  description?: string;
  subAgents?: readonly Agent[];
  beforeAgent?: OneOrMany<BeforeAgentCallback>;
  afterAgent?: OneOrMany<AfterAgentCallback>;
}

/** The part of a definition that all agents with sub-agents share. Throws ConfigurationException for bad names. */
function workflowBase<Kind extends Agent['kind']>(kind: Kind, spec: WorkflowSpec) {
  const { name, description = '', subAgents = [], beforeAgent = [], afterAgent = [] } = spec;
  checkAgentName(name);
  checkSiblings(name, subAgents);
  const callbacks: AgentCallbacks = { beforeAgent: [beforeAgent].flat(), afterAgent: [afterAgent].flat() };
  return { kind, name, description, subAgents, callbacks };
}

/**
 * Runs its sub-agents one after another. In a resumable app it resumes the child whose call the user just answered, and
 * stops after a child that waits for an answer. Live, each child runs until it calls `task_completed`.
 */
export function sequentialAgent(spec: WorkflowSpec): Agent {
  const base = workflowBase('sequential', spec);
  return {
    ...base,
    async *run(ctx) {
      const { subAgents } = base;
      const position = positionOf(subAgents, ctx);
      const answered = resumePoint(ctx, subAgents);
      const first = Math.max(position.child, answered?.children[0] ?? 0);
      for (const [index, child] of subAgents.entries()) {
        if (index < first) continue;
        const progress = progressOf(child, index === first ? answered : undefined, ctx);
        yield* runChild(child, childContext(ctx, index === position.child), progress);
        if (isWaiting(ctx, progress.waiting)) return;
      }
    },
    async *runLive(ctx, input) {
      const shared = HandoverInput.of(input);
      for (const child of base.subAgents) {
        yield* runSubAgentLive(child, ctx, shared);
        if (shared.hasEnded) return;
      }
    },
  };
}

/** The context of a child. Only the child in which the invocation was interrupted resumes. */
const childContext = (ctx: RunContext, isCurrent: boolean): RunContext =>
  ctx.continuing && !isCurrent ? { ...ctx, continuing: false } : ctx;

interface ChildProgress {
  escalated?: boolean;
  /** Ids of long-running calls the child made. */
  waiting?: Set<string>;
}

/** A resumed child may have other long-running calls that are still open. */
const progressOf = (child: Agent, answered: ResumePoint | undefined, ctx: RunContext): ChildProgress =>
  answered ? { waiting: callsSince(answered.invocationId, child, ctx) } : {};

async function* runChild(child: Agent, ctx: RunContext, progress: ChildProgress): AsyncGenerator<Event, void, void> {
  for await (const event of runSubAgent(child, ctx)) {
    if (event.actions.escalate) progress.escalated = true;
    for (const id of event.longRunningToolIds ?? []) (progress.waiting ??= new Set()).add(id);
    yield event;
  }
}

export interface LoopSpec extends WorkflowSpec {
  /** Rounds through all sub-agents; absent or 0: until one escalates. */
  maxIterations?: number;
}

/**
 * Repeats its agents until one escalates, at most `maxIterations` times. The agent that escalates finishes first; the
 * ones after it are skipped.
 */
export function loopAgent(spec: LoopSpec): Agent {
  const base = workflowBase('loop', spec);
  const { maxIterations = 0 } = spec;
  if (!Number.isInteger(maxIterations) || maxIterations < 0) {
    throw new AppError('ConfigurationException', `maxIterations of "${spec.name}" must be a whole number, 0 or more`);
  }
  return {
    ...base,
    async *run(ctx) {
      if (base.subAgents.length === 0) return;
      const answered = resumePoint(ctx, base.subAgents);
      const position = loopPosition(base.subAgents, answered, ctx);
      const last = maxIterations || Number.POSITIVE_INFINITY;
      for (let round = position.rounds; round < last; round += 1) {
        if (round > 0) await yieldWhenDue(); // its agents may say nothing and never wait
        for (const [index, child] of base.subAgents.entries()) {
          const isFirst = round === position.rounds;
          if (isFirst && index < position.child) continue;
          const isCurrent = isFirst && index === position.child;
          const progress = progressOf(child, isCurrent ? answered : undefined, ctx);
          progress.escalated = isCurrent && position.escalated;
          yield* runChild(child, childContext(ctx, isCurrent), progress);
          if (progress.escalated || isWaiting(ctx, progress.waiting)) return;
        }
      }
    },
  };
}

/** Where a loop resumes: where it was interrupted, or at the child and round of the call that the user answered. */
function loopPosition(
  children: readonly Agent[],
  answered: ResumePoint | undefined,
  ctx: RunContext,
): WorkflowPosition {
  if (!answered) return positionOf(children, ctx);
  const { invocationId } = answered;
  const { rounds } = positionOf(children, { ...ctx, invocationId, continuing: true });
  return { child: answered.children[0] ?? 0, rounds, escalated: false };
}

export interface ParallelSpec extends WorkflowSpec {
  /** Sub-agents that run at the same time; the rest wait. Default 16. */
  maxConcurrency?: number;
}

/**
 * Runs its sub-agents in parallel, each on a branch of its own, where it does not see the others. Yields events as they
 * arrive. When one fails, the others are cancelled; when one escalates, its event is the last. In a resumable app only
 * those resume whose calls the user just answered.
 */
export function parallelAgent(spec: ParallelSpec): Agent {
  const base = workflowBase('parallel', spec);
  const { maxConcurrency = 16 } = spec;
  if (!Number.isInteger(maxConcurrency) || maxConcurrency < 1) {
    throw new AppError('ConfigurationException', `maxConcurrency of "${spec.name}" must be a whole number, 1 or more`);
  }
  return {
    ...base,
    async *run(ctx) {
      const branch = ctx.branch === undefined ? base.name : `${ctx.branch}.${base.name}`;
      using siblings = new LinkedAbort(ctx.signal);
      const { children: answered } = resumePoint(ctx, base.subAgents) ?? {};
      const agents = answered ? base.subAgents.filter((_, index) => answered.includes(index)) : base.subAgents;
      const children = agents.map((child) =>
        runSubAgent(child, ctx, { signal: siblings.signal, branch: `${branch}.${child.name}` }),
      );
      const onStop = (): void => siblings.abort(new AppError('run_cancelled', `"${base.name}" has ended`));
      for await (const event of merge(children, { limit: maxConcurrency, onStop })) {
        yield event;
        if (event.actions.escalate) return;
      }
    },
  };
}
