// Builds what is missing or older than its sources, then runs the server from the build: that starts faster than the
// sources and takes less memory, because nothing has to be translated on the way.
import { buildOld } from './build.js';

buildOld();
await import('../dist/main.js');
