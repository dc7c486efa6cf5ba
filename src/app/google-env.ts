import type { GoogleSurroundings } from '../services/google-surroundings.ts';
import { cloudToken } from '../tools/auth/machine-token.ts';

/** Google's services as the environment tells of them, by the credential of this machine. */
export function googleFrom(env: Readonly<Record<string, string | undefined>>): GoogleSurroundings {
  return {
    token: cloudToken(),
    project: env['GOOGLE_CLOUD_PROJECT'],
    location: env['GOOGLE_CLOUD_LOCATION'],
    vertexUrl: env['GOOGLE_VERTEX_BASE_URL'],
  };
}
