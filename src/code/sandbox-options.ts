import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import type { CodeDelimiters } from '../core/code-executor.ts';
import { spelled } from '../schemas/spelled.ts';

const schema = lazily(() => {
  const count = (most: number): z.ZodInt => z.int().min(1).max(most);
  const delimiters = z.tuple([z.string().min(1), z.string().min(1)]);
  return spelled({
    timeoutMs: count(600_000).default(5000),
    memoryMb: count(2048).default(64),
    maxOutputBytes: count(16 * 1024 * 1024).default(64 * 1024),
    maxFiles: count(1000).default(16),
    maxFileBytes: count(64 * 1024 * 1024).default(8 * 1024 * 1024),
    maxConcurrent: count(64).default(2),
    maxSessions: count(64).default(8),
    stateful: z.boolean().default(false),
    optimizeDataFile: z.boolean().default(false),
    errorRetryAttempts: z.int().min(0).max(100).optional(),
    codeBlockDelimiters: z.array(delimiters).min(1).optional(),
    executionResultDelimiters: delimiters.optional(),
  });
});

/** What a sandbox is made with, each with its default. */
export type SandboxSettings = z.infer<ReturnType<typeof schema>>;

export interface SandboxOptions {
  /** How long one piece of code may run, in milliseconds. Default 5000. */
  timeoutMs?: number;
  /** Memory the code may take, in megabytes; for Python, beyond what the interpreter takes itself. Default 64. */
  memoryMb?: number;
  /** Bytes of what it prints (and of an error) that are kept. Default 64 kB. */
  maxOutputBytes?: number;
  /** Files it may write in one go. Default 16. */
  maxFiles?: number;
  /** Bytes of all these files together. Default 8 MB. */
  maxFileBytes?: number;
  /** Pieces of code that run at the same time; others wait for their turn. Default 2. */
  maxConcurrent?: number;
  /** Sessions that keep what their code defined, when `stateful`; the one unused for longest is let go. Default 8. */
  maxSessions?: number;
  /** Pieces of code of one session share what they defined. Default false. */
  stateful?: boolean;
  /** See CodeExecutor. */
  optimizeDataFile?: boolean;
  errorRetryAttempts?: number;
  codeBlockDelimiters?: readonly CodeDelimiters[];
  executionResultDelimiters?: CodeDelimiters;
}

/** Checks options; keys may be in snake_case, too. Throws ConfigurationException that names each fault. */
export function sandboxSettings(name: string, options: object): SandboxSettings {
  const result = schema().safeParse(options);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
  throw new AppError('ConfigurationException', `Code executor "${name}" is not set up well: ${faults.join('; ')}`);
}
