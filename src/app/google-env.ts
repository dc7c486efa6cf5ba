import type { GoogleEnvironment } from '../services/google-environment.ts';
import { cloudToken } from '../tools/auth/machine-token.ts';

/** Access to Google's services: the credential of this machine, project and location from the environment. */
export function googleFrom(env: Readonly<Record<string, string | undefined>>): GoogleEnvironment {
  return {
    token: cloudToken(),
    project: env['GOOGLE_CLOUD_PROJECT'],
    location: env['GOOGLE_CLOUD_LOCATION'],
    vertexUrl: env['GOOGLE_VERTEX_BASE_URL'],
  };
}
