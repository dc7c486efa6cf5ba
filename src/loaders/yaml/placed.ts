import { AppError } from '../../base/errors.ts';
import { isLocated } from '../located-error.ts';
import type { YamlFile } from './document.ts';

/** Runs `work`. An AppError without a location gets the location of the path in the file. */
export async function placed<T>(file: YamlFile, at: readonly PropertyKey[], work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isLocated(error) || !(error instanceof AppError)) throw error;
    throw file.fail(at, error.message, { cause: error });
  }
}
