import { AppError } from '../../base/errors.ts';
import { isLocated } from '../located-error.ts';
import type { YamlFile } from './document.ts';

/** Does the work; an AppError that does not know its place gets that of the path in the file. */
export async function placed<T>(file: YamlFile, at: readonly PropertyKey[], work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isLocated(error) || !(error instanceof AppError)) throw error;
    throw file.fail(at, error.message, { cause: error });
  }
}
