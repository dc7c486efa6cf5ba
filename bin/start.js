// Builds what is missing or older than its sources, then runs the server from the build: that starts faster than the
// sources and takes less memory, because nothing has to be translated on the way.
import { build, isOld } from './build.js';

if (isOld()) build();
await import('../dist/main.js');
