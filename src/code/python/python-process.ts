import { inThread, type InterpreterHost, type ProcessCommand, memoryExitCode } from '../interpreter-host.ts';
import { workerEntry } from '../worker-entry.ts';
import { isWithin, WorkerReply } from '../worker-messages.ts';

// The entry of a process for CPython: it runs the interpreter's thread, forwards messages in both directions, and ends
// when the process exceeds the memory limit, whichever way the code allocated the memory.

/** How often the memory is measured, in milliseconds. */
const watchMs = 10;
/** Additional bytes for the runtime itself. */
const slackBytes = 128 * 1024 * 1024;

let thread: InterpreterHost | undefined;
const send = (message: unknown): void => {
  process.send?.(message);
};

// Only the server ends this process, not a signal to the whole process group. It ends itself when the server is gone.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (command: ProcessCommand) => {
  if ('job' in command) thread?.post(command.job);
  else if ('interrupt' in command) thread?.interrupt(command.interrupt);
  else {
    const { setup } = command;
    thread = inThread(workerEntry('python-worker', import.meta.url))(setup, {
      onMessage(message) {
        const reply = WorkerReply.safeParse(message);
        if (!reply.success || !isWithin(reply.data, setup)) process.exit(1);
        // Memory for the code, and the same for its files.
        if (reply.data.kind === 'ready') watch(process.memoryUsage.rss() + 2 * setup.memoryBytes + slackBytes);
        send(reply.data);
      },
      onEnd: (why) => process.exit(why === 'memory' ? memoryExitCode : 1),
    });
  }
});

function watch(ceiling: number): void {
  setInterval(() => {
    // SIGKILL: a thread that is asked to end would continue to fill memory until it does.
    if (process.memoryUsage.rss() > ceiling) process.kill(process.pid, 'SIGKILL');
  }, watchMs);
}
