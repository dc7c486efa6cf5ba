import type { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { pathText } from './json-schema-check.ts';

/** Validates the options of a tool. Throws ConfigurationException that names the tool and each fault. */
export function parseOptions<T>(toolName: string, schema: z.ZodType<T>, options: unknown): T {
  const result = schema.safeParse(options);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    ({ path, message }) => `${path.length > 0 ? `${pathText(path)}: ` : ''}${message}`,
  );
  throw new AppError('ConfigurationException', `Tool "${toolName}" has invalid options: ${faults.join('; ')}`);
}
