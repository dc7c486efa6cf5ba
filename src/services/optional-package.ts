import { AppError } from '../base/errors.ts';

/**
 * Loads an optional package. Throws `ConfigurationException` with its name when it is not installed.
 */
export async function optionalPackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    throw new AppError('ConfigurationException', `The package "${name}" is missing: npm install ${name}`, {
      cause: error,
    });
  }
}
