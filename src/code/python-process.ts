import { inThread, type InterpreterHost, type ProcessOrder, tooMuchMemory } from './interpreter-host.ts';
import { workerEntry } from './worker-entry.ts';
import { isWithin, WorkerReply } from './worker-messages.ts';

// The entry of a process for CPython: it holds the thread of the interpreter, passes on what both sides say, and ends
// when the code takes more memory than it may, by whatever means.

/** How often the memory is looked at, in milliseconds. */
const watchMs = 10;
/** What the runtime itself may take more, in bytes. */
const slackBytes = 128 * 1024 * 1024;

let thread: InterpreterHost | undefined;
const say = (message: unknown): void => {
  process.send?.(message);
};

// The server ends this process: a signal to its whole group must not do so first. When it is gone, nobody is left to.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (order: ProcessOrder) => {
  if ('job' in order) thread?.post(order.job);
  else if ('interrupt' in order) thread?.interrupt(order.interrupt);
  else {
    const { setup } = order;
    thread = inThread(workerEntry('python-worker'))(setup, {
      onMessage(message) {
        const reply = WorkerReply.safeParse(message);
        if (!reply.success || !isWithin(reply.data, setup)) process.exit(1);
        // The memory of the code, and as much for its files.
        if (reply.data.kind === 'ready') watch(process.memoryUsage.rss() + 2 * setup.memoryBytes + slackBytes);
        say(reply.data);
      },
      onEnd: (why) => process.exit(why === 'memory' ? tooMuchMemory : 1),
    });
  }
});

function watch(ceiling: number): void {
  setInterval(() => {
    // No waiting for the thread to end: it goes on filling memory as long as it runs.
    if (process.memoryUsage.rss() > ceiling) process.kill(process.pid, 'SIGKILL');
  }, watchMs);
}
