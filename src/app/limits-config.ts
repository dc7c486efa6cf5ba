import { z } from 'zod';
import { setting, wholeNumber } from './config-values.ts';

// The settings that say how much one caller may use, unless the caller's credential says so itself.

export const Limits = z.strictObject({
  requestsPerMinute: setting(
    wholeNumber(0).optional(),
    'Requests of one caller in a minute, or of one address where callers are not known; more get 429',
    { value: 'COUNT', shown: 'no limit' },
  ),
});
