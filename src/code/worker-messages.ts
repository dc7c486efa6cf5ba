import { z } from 'zod';
import { nameFault } from '../schemas/names.ts';

/** What code may take. */
export interface WorkerSetup {
  readonly memoryBytes: number;
  readonly maxOutputBytes: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** What a worker is started with. */
export interface WorkerStart extends WorkerSetup {
  /** One Int32. Not zero: stop what runs (2, the number of SIGINT, which Python's interpreter looks for). */
  readonly interrupt: SharedArrayBuffer;
}

/** A file as workers hold it. */
export interface WorkerFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One piece of code to run. */
export interface WorkerJob {
  readonly code: string;
  readonly language: string;
  readonly files: readonly WorkerFile[];
}

/** What became of a job. */
export interface WorkerResult {
  readonly kind: 'done';
  readonly stdout: string;
  readonly stderr: string;
  readonly files: WorkerFile[];
}

/** What workers say. Checked when it arrives: should code break out of its interpreter, this is all it can reach. */
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

/** Room for the mark that an output was cut off. */
const markLength = 100;
const maxFailureLength = 64 * 1024;

/** Whether a reply keeps to the limits. A thread holds itself to them; should code break out of it, this is what counts. */
export function isWithin(reply: WorkerReply, { maxOutputBytes, maxFiles, maxFileBytes }: WorkerSetup): boolean {
  if (reply.kind === 'ready') return true;
  if (reply.kind === 'failed') return reply.message.length <= maxFailureLength;
  const longest = maxOutputBytes + markLength;
  const { stdout, stderr, files } = reply;
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (files.length > maxFiles || size > maxFileBytes || files.some(({ name }) => nameFault(name, true))) return false;
  return stdout.length <= longest && stderr.length <= longest;
}
