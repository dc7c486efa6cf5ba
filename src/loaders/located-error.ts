import { AppError } from '../base/errors.ts';

const located = new WeakSet<Error>();

/** A ConfigurationException whose message starts with the location: `app/file:line:column: …`. */
export function locatedError(message: string, options?: ErrorOptions): AppError {
  const error = new AppError('ConfigurationException', message, options);
  located.add(error);
  return error;
}

export const isLocated = (error: unknown): error is AppError => error instanceof AppError && located.has(error);
