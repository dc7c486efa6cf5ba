import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Before anything else is loaded: the second start needs neither to strip types nor to compile again.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url)));
// V8 optimises a function after 3,000 calls. With 400 the server is fast after thousands of requests, not tens of thousands.
// Between the 2,500th and the 10,000th run, runs then take 50 % more processor time.
setFlagsFromString('--invocation-count-for-turbofan=400');
const { runCommand } = await import('./cli/cli.ts');

// The program reads process.env here and nowhere else.
const code = await runCommand(process.argv.slice(2), { env: process.env, cwd: process.cwd() });
// Timers and sockets of agents must not keep a stopped server alive.
process.exit(code);
