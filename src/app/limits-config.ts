import { z } from 'zod';
import { anyCaseObject } from '../schemas/key-case.ts';
import { setting, wholeNumber } from './config-values.ts';

// The settings that say how much one caller may use, unless the caller's credential says so itself.

const AppLimits = anyCaseObject({
  concurrentRuns: wholeNumber(0).optional(),
  queuedRuns: wholeNumber(0).optional(),
});

/** Limits by app; as text, a JSON object. */
const LimitsOfApps = z.preprocess(
  (value) => (typeof value === 'string' ? jsonOf(value) : value),
  z.record(z.string().min(1), AppLimits, { error: 'must be limits by app, such as {"shop":{"concurrentRuns":10}}' }),
);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const Limits = z.strictObject({
  requestsPerMinute: setting(
    wholeNumber(0).optional(),
    'Requests of one caller in a minute, or of one address where callers are not known; more get 429',
    { value: 'COUNT', shown: 'no limit' },
  ),
  failedAuthPerMinute: setting(
    wholeNumber(0).default(1_000),
    'Failed authentications of one address in a minute; more get 429 instead of 401',
    { value: 'COUNT' },
  ),
  concurrentRuns: setting(wholeNumber(0).optional(), 'Active runs of one caller on this server; more get 429', {
    value: 'COUNT',
    shown: 'no limit',
  }),
  queuedRuns: setting(
    wholeNumber(0).optional(),
    'Runs of one caller on this server that wait for their sessions; more get 429',
    { value: 'COUNT', shown: 'no limit' },
  ),
  openStreams: setting(
    wholeNumber(0).optional(),
    'Event streams and WebSockets of one caller on this server; more get 429',
    { value: 'COUNT', shown: 'no limit' },
  ),
  apps: setting(
    LimitsOfApps.optional(),
    'Runs of all callers of an app together on this server: {"shop":{"concurrentRuns":10,"queuedRuns":5}}',
    { value: 'JSON', shown: 'no limits' },
  ),
});
