import { randomUUID } from 'node:crypto';
import { delay } from '../../base/abort.ts';
import { startTimer } from '../../base/timers.ts';
import type { ModelRequest, ModelResponse } from '../../core/model.ts';
import { costOf, priceOf } from '../../core/prices.ts';
import {
  BudgetExceeded,
  type LimitedRun,
  type LiveUsage,
  type ModelCaller,
  type ReservedModelCall,
  type RunBudget,
} from '../../core/run-budget.ts';
import type { RunLog } from '../../core/runtime.ts';
import {
  budgetScopes,
  counterRefs,
  endOfDay,
  type ExceededBudget,
  type LimitedCounter,
  type Reservation,
  type Usage,
  type UsageStore,
} from '../../core/usage-store.ts';
import type { BudgetKind, Budgets } from '../../schemas/budget.ts';
import type { UsageMetadata } from '../../schemas/event.ts';
import type { Prices } from '../../schemas/prices.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { assumedOutputTokens, promptTokens, tokensOf, totalTokens } from './token-estimate.ts';

export interface BudgetMeterOptions {
  readonly store: UsageStore;
  readonly budgets: Budgets;
  readonly prices: Prices;
  /** Names the run. */
  readonly key: SessionKey & { readonly runId: string };
  /** Milliseconds the run may take; Infinity: no limit. */
  readonly timeoutMs: number;
  readonly log: RunLog | undefined;
}

/** Milliseconds between two questions whether a call fits now: the first pause, and the longest. */
const firstPauseMs = 10;
const longestPauseMs = 500;
/** How long a call of a run without a time limit holds its estimate. */
const longestCallMs = 3_600_000;
/** What a run may take to end after its time limit. */
const graceMs = 60_000;

const modelKinds: readonly BudgetKind[] = ['tokens', 'cost', 'modelCalls', 'wallTimeMs'];
const toolKinds: readonly BudgetKind[] = ['toolCalls', 'wallTimeMs'];
const nothing = { tokens: 0, cost: 0 };

/** Counts what one run uses, and ends it when a budget is used up. */
export class BudgetMeter implements RunBudget {
  readonly #options: BudgetMeterOptions;
  /** Begins the ids of the run's reservations. */
  readonly #prefix: string;
  /** Until when the run's time is counted. */
  #countedMs = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BudgetMeterOptions) {
    const { userId, sessionId, runId } = options.key;
    this.#options = options;
    this.#prefix = `${JSON.stringify([userId, sessionId, runId])}/`;
  }

  /** Limits the run's time: aborts the run when the budget for it is used up. Throws `BudgetExceeded` if it is already. */
  async start(run: LimitedRun): Promise<void> {
    const { store } = this.#options;
    const counters = this.#counters();
    if (run.isContinuing) await store.releaseAll(counters, this.#prefix);
    if (!this.#limitsTime) return;
    await this.#reserve(counters, { checks: ['wallTimeMs'] }, run.signal);
    const used = await store.read(counters);
    const exceeded = counters
      .flatMap(({ scope, budget: { wallTimeMs: limit } }, index): ExceededBudget[] =>
        limit === undefined
          ? []
          : [{ scope, kind: 'wallTimeMs', limit, used: used[index]?.wallTimeMs ?? 0, needed: 0 }],
      )
      .toSorted((a, b) => a.limit - a.used - (b.limit - b.used))[0];
    if (!exceeded) return;
    const full = { ...exceeded, used: exceeded.limit };
    this.#timer = startTimer(() => run.abort(this.#failure(full)), exceeded.limit - exceeded.used);
  }

  /** Counts the rest of the run's time. Usage that cannot be stored does not fail the run. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#limitsTime) return;
    const { store, key, log } = this.#options;
    try {
      await store.settle({ counters: this.#counters(), used: { wallTimeMs: this.#elapsed() } });
    } catch (err) {
      log?.warn({ runId: key.runId, err }, 'the time of a run was not counted');
    }
  }

  async reserveModelCall(request: ModelRequest, caller: ModelCaller): Promise<ReservedModelCall> {
    const { config, model } = request;
    const prompt = promptTokens(request, caller.session.events, caller.agent.name);
    const { maxOutputTokens = 0 } = config;
    const least = this.#estimate(model, prompt, maxOutputTokens);
    const most = this.#estimate(model, prompt, maxOutputTokens > 0 ? maxOutputTokens : assumedOutputTokens);
    const counters = this.#counters();
    const call = { checks: modelKinds, call: 'modelCalls', estimate: { least, most } } as const;
    const reservationId = await this.#reserve(counters, call, caller.signal);
    let usage: UsageMetadata | undefined;
    let version = model;
    let answered: number | undefined;
    let isSettled = false;
    return {
      note: (response: ModelResponse) => {
        usage = response.usageMetadata ?? usage;
        version = response.modelVersion ?? version;
        const said = tokensOf(response.content?.parts ?? []);
        answered = response.partial ? (answered ?? 0) + said : Math.max(answered ?? 0, said);
      },
      settle: async () => {
        if (isSettled) return;
        isSettled = true;
        // A call that failed at once is not charged; one that says nothing of usage is estimated.
        const isCharged = answered !== undefined || caller.signal.aborted;
        const guess = isCharged ? this.#estimate(model, prompt, answered ?? 0) : nothing;
        const used = usage ? this.#used(version, model, usage) : guess;
        await this.#options.store.settle({ reservationId, counters, used });
      },
    };
  }

  async countToolCall(signal: AbortSignal): Promise<void> {
    await this.#reserve(this.#counters(), { checks: toolKinds, call: 'toolCalls' }, signal);
  }

  async checkLive(signal: AbortSignal): Promise<void> {
    await this.#reserve(this.#counters(), { checks: modelKinds }, signal);
  }

  async countLive({ model, usage, calls }: LiveUsage, signal: AbortSignal): Promise<void> {
    const counters = this.#counters();
    const used = { ...(usage ? this.#used(model, model, usage) : nothing), modelCalls: calls };
    await this.#options.store.settle({ counters, used });
    await this.#reserve(counters, { checks: modelKinds }, signal);
  }

  /** Waits while the counters are busy. Returns the id of the reservation. */
  async #reserve(
    counters: readonly LimitedCounter[],
    asked: Pick<Reservation, 'checks' | 'call' | 'estimate'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { store, timeoutMs } = this.#options;
    const id = `${this.#prefix}${randomUUID()}`;
    const lifetimeMs = timeoutMs === Infinity ? longestCallMs : timeoutMs + graceMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const admission = await store.reserve({ id, counters, wallTimeMs: this.#elapsed(), lifetimeMs, ...asked });
      if (admission.status === 'granted') return id;
      if (admission.status === 'exceeded') throw this.#failure(admission.exceeded);
      await delay(pauseMs, signal);
    }
  }

  #failure(exceeded: ExceededBudget): BudgetExceeded {
    const now = Date.now();
    const isDaily = exceeded.scope === 'userDay' || exceeded.scope === 'appDay';
    return new BudgetExceeded(exceeded, isDaily ? Math.ceil((endOfDay(now) - now) / 1000) : undefined);
  }

  /** The counters of the scopes that have a budget, as of now: a run may go on after midnight. */
  #counters(): LimitedCounter[] {
    const { budgets, key } = this.#options;
    const refs = counterRefs(key, Date.now());
    return budgetScopes.flatMap((scope) => {
      const [budget, ref] = [budgets[scope], refs[scope]];
      return budget && ref ? [{ ...ref, budget }] : [];
    });
  }

  get #limitsTime(): boolean {
    return budgetScopes.some((scope) => this.#options.budgets[scope]?.wallTimeMs !== undefined);
  }

  /** Whole milliseconds that have passed since the last call. */
  #elapsed(): number {
    const elapsed = Math.max(0, Math.round(performance.now() - this.#countedMs));
    this.#countedMs += elapsed;
    return elapsed;
  }

  #estimate(model: string, input: number, output: number): Pick<Usage, 'tokens' | 'cost'> {
    const price = priceOf(model, this.#options.prices);
    const cost = price ? (input * price.input + output * price.output) / 1e6 : 0;
    return { tokens: input + output, cost };
  }

  #used(version: string, model: string, usage: UsageMetadata): Pick<Usage, 'tokens' | 'cost'> {
    const { prices } = this.#options;
    const price = priceOf(version, prices) ?? priceOf(model, prices);
    return { tokens: totalTokens(usage), cost: price ? costOf(usage, price) : 0 };
  }
}
