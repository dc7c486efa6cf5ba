import { AppError } from '../base/errors.ts';

/**
 * Loads a package that is installed only by those who use it. Throws `ConfigurationException`, naming it, when it is
 * missing.
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
