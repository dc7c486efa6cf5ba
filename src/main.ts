#!/usr/bin/env node
import { runCommand } from './cli.ts';

// The only place that reads process.env.
const code = await runCommand(process.argv.slice(2), { env: process.env, cwd: process.cwd() });
// An agent's timers and sockets may not keep a server alive that was told to end.
process.exit(code);
