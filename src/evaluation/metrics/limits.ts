import { priceOf } from '../../core/prices.ts';
import { type Invocation, toolCallsOf } from '../../schemas/evaluation/eval-set.ts';
import type { Prices } from '../../schemas/prices.ts';
import { byTurn, type Metric, metricInfo, type MetricInput, type TurnScore } from './metric.ts';

// Measured values: the mean of the turns counts. With a threshold they are limits; without one they are only reported.

export const latency = limit('latency_seconds', 60, 'Seconds the agent took for a turn.', ({ duration }) =>
  duration === undefined ? { reason: 'The time was not measured' } : { score: duration },
);

export const toolCallCount = limit('tool_call_count_v1', 100, 'Tool calls of a turn.', ({ intermediateData }) => ({
  score: toolCallsOf(intermediateData).length,
}));

export const modelCallCount = limit(
  'inference_call_count_v1',
  100,
  'Model calls of a turn.',
  ({ inferenceCallCount, intermediateData }) => ({
    score:
      inferenceCallCount ?? (intermediateData?.invocationEvents ?? []).filter((event) => event.usageMetadata).length,
  }),
);

export const tokenUsage = limit(
  'token_usage_v1',
  100_000,
  'Tokens all model calls of a turn used, in and out.',
  (turn) => {
    const uses = usesOf(turn);
    if (uses.length === 0) return { reason: 'The models told no token counts' };
    return { score: uses.reduce((sum, { input, output }) => sum + input + output, 0) };
  },
);

export const cost = limit(
  'cost_usd',
  10,
  'US dollars the model calls of a turn cost, by the price table of the server or the prices in the criterion.',
  (turn, { metric, prices }) => {
    const table: Prices = { ...prices, ...metric.criterion?.prices };
    let dollars = 0;
    for (const { model, input, output } of usesOf(turn)) {
      const price = priceOf(model, table);
      if (!price) return { reason: `There is no price for model "${model}": name it in the criterion's "prices"` };
      dollars += (input * price.input + output * price.output) / 1e6;
    }
    return { score: dollars };
  },
);

function limit(
  name: string,
  defaultMaximum: number,
  description: string,
  measure: (turn: Invocation, input: MetricInput) => TurnScore,
): Metric {
  return {
    info: metricInfo(name, `${description} With a threshold it is the most that passes.`, defaultMaximum),
    lowerIsBetter: true,
    measure: (input) => {
      const { metric } = input;
      return byTurn(input, (actual) => {
        const { score, reason } = measure(actual, input);
        const isOver = score !== undefined && metric.threshold !== undefined && score > metric.threshold;
        const why = isOver ? `${round(score)} is more than ${metric.threshold}` : reason;
        return { score, ...(why !== undefined && { reason: why }) };
      });
    },
  };
}

const round = (score: number): number => Number(score.toPrecision(4));

interface Use {
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

function usesOf({ intermediateData }: Invocation): Use[] {
  return (intermediateData?.invocationEvents ?? []).flatMap(({ usageMetadata, modelVersion = '' }) => {
    if (!usageMetadata) return [];
    const { promptTokenCount = 0, toolUsePromptTokenCount = 0 } = usageMetadata;
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata;
    return {
      model: modelVersion,
      input: promptTokenCount + toolUsePromptTokenCount,
      output: candidatesTokenCount + thoughtsTokenCount,
    };
  });
}
