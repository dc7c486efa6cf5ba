import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Before anything else is loaded: from the second start on, neither types are stripped nor code compiled again.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url)));
// A server is to be fast after thousands of requests, not tens of thousands: V8 waits for 3,000 calls of a function.
// Between the 2,500th and the 10,000th run, runs then take 50 % more processor time.
setFlagsFromString('--invocation-count-for-turbofan=1000');
const { runCommand } = await import('./cli/cli.ts');

// The program reads process.env here and nowhere else.
const code = await runCommand(process.argv.slice(2), { env: process.env, cwd: process.cwd() });
// An agent's timers and sockets may not keep a server alive that was told to end.
process.exit(code);
