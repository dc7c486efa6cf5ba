import { z } from 'zod';

/** What a worker is started with. */
export interface WorkerSetup {
  readonly memoryBytes: number;
  readonly maxOutputBytes: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
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
