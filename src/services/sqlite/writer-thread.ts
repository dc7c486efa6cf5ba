import { parentPort, workerData } from 'node:worker_threads';
import { Writer } from './writer.ts';
import type { Write } from './writes.ts';

// The thread that writes to one database, so that the disk does not block the event loop. Each message is a batch of
// writes; a batch is one transaction, and its outcome is sent after the commit.

const writer = new Writer((workerData as { path: string }).path);

parentPort?.on('message', (batch: readonly Write[] | 'close') => {
  if (batch === 'close') {
    writer.close();
    parentPort?.close();
    return;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  parentPort?.postMessage(writer.perform(batch));
});
