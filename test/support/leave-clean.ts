import { afterAll, vi } from 'vitest';

// Files share a process: what one has set must not reach the next.
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
