import { afterAll, vi } from 'vitest';

// Files share a process: what one has set must not reach the next.
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** As `expect.poll` has it in `vitest.config.ts`. */
const patience = { timeout: 15_000, interval: 10 };

if (!('isPatient' in vi)) {
  const { waitFor, waitUntil } = vi;
  type Options = Parameters<typeof waitFor>[1];
  const patient = (options: Options): Options =>
    typeof options === 'object' ? { ...patience, ...options } : (options ?? patience);
  Object.assign(vi, {
    isPatient: true,
    waitFor: (callback: () => unknown, options?: Options) => waitFor(callback, patient(options)),
    waitUntil: (callback: () => unknown, options?: Options) => waitUntil(callback, patient(options)),
  });
}
