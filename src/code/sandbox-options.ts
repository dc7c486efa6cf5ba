import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import type { CodeDelimiters } from '../core/code-executor.ts';
import { anyCaseObject } from '../schemas/key-case.ts';

const schema = lazily(() => {
  const count = (most: number): z.ZodInt => z.int().min(1).max(most);
  const delimiters = z.tuple([z.string().min(1), z.string().min(1)]);
  return anyCaseObject({
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

/** The options of a sandbox, with defaults filled in. */
export type SandboxSettings = z.infer<ReturnType<typeof schema>>;

export interface SandboxOptions {
  /** How long one execution may take, in milliseconds. Default 5000. */
  timeoutMs?: number;
  /** Memory for the code, in megabytes; for Python, beyond that of the interpreter itself. Default 64. */
  memoryMb?: number;
  /** Bytes kept of its output, and of an error. Default 64 kB. */
  maxOutputBytes?: number;
  /** Files that one execution may write. Default 16. */
  maxFiles?: number;
  /** Bytes of all these files together. Default 8 MB. */
  maxFileBytes?: number;
  /** Executions at the same time; others wait. Default 2. */
  maxConcurrent?: number;
  /** Sessions that keep their variables, when `stateful`; beyond that, the one unused for longest is closed. Default 8. */
  maxSessions?: number;
  /** Whether the executions of one session share variables. Default false. */
  stateful?: boolean;
  /** See CodeExecutor. */
  optimizeDataFile?: boolean;
  errorRetryAttempts?: number;
  codeBlockDelimiters?: readonly CodeDelimiters[];
  executionResultDelimiters?: CodeDelimiters;
}

/** Checks options, with keys in camelCase or snake_case. Throws ConfigurationException that names each fault. */
export function sandboxSettings(name: string, options: object): SandboxSettings {
  const result = schema().safeParse(options);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
  throw new AppError('ConfigurationException', `Code executor "${name}" has invalid options: ${faults.join('; ')}`);
}
