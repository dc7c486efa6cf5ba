// Builds what is missing or older than its sources, then runs the server from the build: that starts faster than the
// sources and takes less memory. Where the tools to build are not installed (production), the sources run as they are.
import './check-node.cjs';
import { buildOld } from './build.js';

const { isServerBuilt } = buildOld();
await import(isServerBuilt ? '../dist/main.js' : '../src/main.ts');
