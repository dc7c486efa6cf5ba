import type { Services } from '../../core/services.ts';
import { Capabilities } from '../../schemas/extensions.ts';
import { PriceTable, type Prices } from '../../schemas/prices.ts';
import { type HttpConfig, httpDefaults, type StoreKinds } from '../deps.ts';
import type { DevelopmentPart } from '../development-parts.ts';
import { type Operation, operation } from '../operation.ts';
import { sessionsPerPage } from '../views/session-summaries.ts';
import { tracesPerPage } from './trace-list.ts';

interface CapabilityRoutes {
  readonly version: string;
  readonly services: Services;
  readonly stores?: StoreKinds;
  readonly prices?: Prices;
  readonly config?: Partial<HttpConfig>;
  readonly development: ReadonlySet<DevelopmentPart>;
}

const tag = 'Server';
const eventsPerPage = 1_000;

/** The server's capabilities, and the prices of models. Calls `operations` for each request. */
export function capabilityOperations(
  { version, services, stores = {}, prices = {}, config, development }: CapabilityRoutes,
  operations: () => readonly Operation[],
): Operation[] {
  const storeOf = (kind = 'memory') => ({ kind, durable: kind !== 'memory' });
  const models = Object.entries(prices).map(([match, price]) => ({ match, ...price }));
  return [
    operation({
      method: 'GET',
      paths: ['/capabilities'],
      tag,
      feature: 'capabilities',
      access: { role: 'any', user: 'none' },
      summary: 'What this server can do, its limits, and whether what it stores outlives it',
      response: { schema: Capabilities },
      handle: (): Capabilities => ({
        version,
        features: [...new Set(operations().flatMap(({ feature }) => feature ?? []))].toSorted(),
        development: [...development].toSorted(),
        limits: {
          bodyBytes: config?.bodyLimitBytes ?? httpDefaults.bodyLimitBytes,
          eventsPerPage,
          sessionsPerPage,
          tracesPerPage,
        },
        stores: {
          sessions: storeOf(stores.sessions),
          ...(services.artifacts && { artifacts: storeOf(stores.artifacts) }),
          ...(services.memories && { memories: storeOf(stores.memories) }),
        },
      }),
    }),
    operation({
      method: 'GET',
      paths: ['/prices'],
      tag,
      feature: 'prices',
      access: { role: 'any', user: 'none' },
      summary: 'What tokens of each model cost, as an estimate',
      response: { schema: PriceTable },
      handle: (): PriceTable => ({ currency: 'USD', per: 1_000_000, isEstimate: true, models }),
    }),
  ];
}
