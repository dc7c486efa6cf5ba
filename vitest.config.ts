import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { 'agent-server': fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/dev-ui/build.ts'],
    restoreMocks: true,
    // Real sockets on a machine that is busy with other things: a reset can overtake the answer it follows.
    retry: process.env['CI'] ? 2 : 0,
    // Agents are loaded by Node itself, as in the server: its hooks keep book of what they import.
    server: { deps: { external: [/[?]app-module=/] } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
