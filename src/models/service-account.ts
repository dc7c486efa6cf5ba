import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';

const schema = lazily(() =>
  z.looseObject({
    type: z.literal('service_account'),
    client_email: z.email(),
    private_key: z.string().startsWith('-----BEGIN'),
    project_id: z.string().optional(),
  }),
);

/** Credentials of a Google service account, as in its key file. */
export type ServiceAccountCredentials = z.infer<ReturnType<typeof schema>>;

/** Parses the key file of a service account. Throws ConfigurationException, which never contains the text. */
export function serviceAccountCredentials(json: string): ServiceAccountCredentials {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new AppError('ConfigurationException', 'The service account key is not JSON');
  }
  const parsed = schema().safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole');
  throw new AppError('ConfigurationException', `Not a service account key: check ${fields.join(', ')}`);
}
