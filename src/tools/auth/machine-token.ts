import { abortable } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';

const missing =
  'This machine has no Google credential: gcloud auth application-default login makes one, GOOGLE_APPLICATION_CREDENTIALS names one';

/**
 * Returns a function that gets tokens from the Google credential of this machine, for some scopes. Google's library
 * finds the credential on first use, and renews it. The function throws `unavailable` without a credential.
 */
export function machineToken(scopes: readonly string[]): (signal: AbortSignal) => Promise<string> {
  let finding: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined;
  const find = async (): Promise<string | null | undefined> => {
    finding ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: [...scopes] }));
    return (await finding).getAccessToken();
  };
  return async (signal) => {
    let token: string | null | undefined;
    try {
      token = await abortable(find(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new AppError('unavailable', missing, { cause: error });
    }
    if (!token) throw new AppError('unavailable', missing);
    return token;
  };
}

/** The same with the scope for all services of Google Cloud. */
export const cloudToken = (): ((signal: AbortSignal) => Promise<string>) =>
  machineToken(['https://www.googleapis.com/auth/cloud-platform']);
