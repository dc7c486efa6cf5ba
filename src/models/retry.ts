import { delay } from '../base/abort.ts';
import {
  type Model,
  ModelError,
  type ModelErrorCategory,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts';

/** The wait before a retry (interface specification, section 7). */
export type RetryStrategy = 'EXPONENTIAL_BACKOFF' | 'FIXED_DELAY' | 'IMMEDIATE_RETRY';

const strategies: Readonly<Record<ModelErrorCategory, RetryStrategy | undefined>> = {
  AUTH_ERROR: undefined,
  RATE_LIMITED: 'EXPONENTIAL_BACKOFF',
  NETWORK_ERROR: 'FIXED_DELAY',
  CLIENT_ERROR: undefined,
  SERVER_ERROR: 'EXPONENTIAL_BACKOFF',
  TIMEOUT_ERROR: 'EXPONENTIAL_BACKOFF',
  MODEL_ERROR: undefined,
  UNKNOWN_ERROR: undefined,
};

const FIXED_MS = 1_000;
const LONGEST_MS = 30_000;

/** The strategy for failures of a category; undefined: no retry. */
export function retryStrategy(category: ModelErrorCategory): RetryStrategy | undefined {
  return strategies[category];
}

/** Milliseconds before the next attempt; `attempt` counts the failed attempts before this one, from 0. */
export function retryDelayMs(strategy: RetryStrategy, attempt: number): number {
  if (strategy === 'IMMEDIATE_RETRY') return 0;
  return strategy === 'FIXED_DELAY' ? FIXED_MS : Math.min(FIXED_MS * 2 ** attempt, LONGEST_MS);
}

/** Limits of the retries of one call. */
export interface RetryOptions {
  /** Attempts, including the first. Default 3. */
  readonly attempts?: number;
  /** Milliseconds after the first attempt in which another may begin. Default 30,000. */
  readonly budgetMs?: number;
}

/**
 * The model with retries of temporary failures, after the wait that the provider requests, else that of the strategy.
 * After the first response there is no retry. Each retry is reported to `request.onRetry`.
 */
export function withRetry(model: Model, { attempts = 3, budgetMs = 30_000 }: RetryOptions = {}): Model {
  async function* generate(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelResponse, void, void> {
    const deadline = performance.now() + budgetMs;
    for (let attempt = 0; ; attempt += 1) {
      let begun = false;
      try {
        for await (const response of model.generate(request, signal)) {
          begun = true;
          yield response;
        }
        return;
      } catch (error) {
        if (begun || signal.aborted || attempt + 1 >= attempts || !(error instanceof ModelError)) throw error;
        const delayMs = waitBefore(error, attempt);
        if (delayMs === undefined || performance.now() + delayMs > deadline) throw error;
        request.onRetry?.({ attempt: attempt + 1, delayMs, error });
        await delay(delayMs, signal);
      }
    }
  }
  const connect = model.connect?.bind(model);
  const { name, connectsFor } = model;
  return { name, generate, ...(connect && { connect }), ...(connectsFor && { connectsFor }) };
}

/** A random wait of half to all of the strategy's delay, so that clients do not retry together; at least the provider's. */
function waitBefore(error: ModelError, attempt: number): number | undefined {
  const strategy = retryStrategy(error.category);
  if (!strategy) return undefined;
  const spread = 0.5 + Math.random() / 2;
  const ownMs = retryDelayMs(strategy, attempt) * spread;
  return error.retryAfter === undefined ? ownMs : error.retryAfter * 1_000 + spread * 100;
}
