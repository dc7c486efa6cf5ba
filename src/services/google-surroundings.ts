import { AppError } from '../base/errors.ts';
import type { GoogleToken } from './google/google-connection.ts';
import type { VertexName } from './service-uri.ts';
import type { VertexPlace } from './vertex/vertex-api.ts';

/** What the surroundings of the server say of Google's services. */
export interface GoogleSurroundings {
  readonly token?: GoogleToken | undefined;
  /** `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`: where resources are whose names do not say it. */
  readonly project?: string | undefined;
  readonly location?: string | undefined;
  /** `GOOGLE_VERTEX_BASE_URL`: Vertex AI is there. */
  readonly vertexUrl?: string | undefined;
}

/** The full name of a resource. Throws `ConfigurationException` when nobody says where it is. */
export function vertexPlace(name: VertexName, surroundings: GoogleSurroundings = {}): VertexPlace {
  const { project = surroundings.project, location = surroundings.location, kind, id } = name;
  const collection = kind === 'rag' ? 'ragCorpora' : 'reasoningEngines';
  if (!project || !location) {
    const whole = `${kind}://projects/PROJECT/locations/LOCATION/${collection}/${id}`;
    throw new AppError(
      'ConfigurationException',
      `"${kind}://${id}" needs GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or to be written as ${whole}`,
    );
  }
  return { project, location, resource: `projects/${project}/locations/${location}/${collection}/${id}` };
}
