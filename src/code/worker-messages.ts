import { z } from 'zod';
import { nameFault } from '../schemas/names.ts';

/** The limits of the code. */
export interface WorkerSetup {
  readonly memoryBytes: number;
  readonly maxOutputBytes: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** The `workerData` of a worker. */
export interface WorkerStart extends WorkerSetup {
  /** One Int32. Not zero: stop the running code (2, the number of SIGINT, which Python's interpreter checks for). */
  readonly interrupt: SharedArrayBuffer;
}

/** A file in a worker. */
export interface WorkerFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One code execution. */
export interface WorkerJob {
  readonly code: string;
  readonly language: string;
  readonly files: readonly WorkerFile[];
}

/** The result of a job. */
export interface WorkerResult {
  readonly kind: 'done';
  readonly stdout: string;
  readonly stderr: string;
  readonly files: WorkerFile[];
}

/** A worker's reply. Validated on arrival: code that escapes its interpreter could forge replies, and nothing else. */
export const WorkerReply = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
  z.object({
    kind: z.literal('done'),
    stdout: z.string(),
    stderr: z.string(),
    files: z.array(z.object({ name: z.string(), mimeType: z.string(), bytes: z.instanceof(Uint8Array) })),
  }),
]);
export type WorkerReply = z.infer<typeof WorkerReply>;

export const interruptNow = 2;

/** Characters for the mark that output was cut off. */
const markLength = 100;
const maxFailureLength = 64 * 1024;

/** Whether a reply is within the limits. The thread checks them, too; this check also holds for code that escapes. */
export function isWithin(reply: WorkerReply, { maxOutputBytes, maxFiles, maxFileBytes }: WorkerSetup): boolean {
  if (reply.kind === 'ready') return true;
  if (reply.kind === 'failed') return reply.message.length <= maxFailureLength;
  const longest = maxOutputBytes + markLength;
  const { stdout, stderr, files } = reply;
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (files.length > maxFiles || size > maxFileBytes || files.some(({ name }) => nameFault(name, true))) return false;
  return stdout.length <= longest && stderr.length <= longest;
}
