import { AppError } from '../base/errors.ts';
import type { GoogleToken } from './google/google-connection.ts';
import type { VertexName } from './service-uri.ts';
import type { VertexPlace } from './vertex/vertex-api.ts';

/** Settings for Google's services from the environment of the server. */
export interface GoogleEnvironment {
  readonly token?: GoogleToken | undefined;
  /** `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`: for resources whose names contain neither. */
  readonly project?: string | undefined;
  readonly location?: string | undefined;
  /** `GOOGLE_VERTEX_BASE_URL`: the URL of Vertex AI. */
  readonly vertexUrl?: string | undefined;
}

/** The full name of a resource. Throws `ConfigurationException` without a project and a location. */
export function vertexPlace(name: VertexName, environment: GoogleEnvironment = {}): VertexPlace {
  const { project = environment.project, location = environment.location, kind, id } = name;
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
