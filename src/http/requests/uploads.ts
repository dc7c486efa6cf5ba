import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { limitBodyIdleTime } from './body-idle-timeout.ts';

/** One file of a form, under the name it was sent with. */
export interface FormFile {
  readonly fileName: string;
  readonly text: string;
}

const maxFileBytes = 1_000_000;
const maxFiles = 50;

/** Enables multipart forms with files. Loads the parser only if a route needs it. */
export async function registerUploads(app: FastifyInstance, idleMs: number): Promise<void> {
  const { default: multipart } = await import('@fastify/multipart');
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers['content-type']?.startsWith('multipart/')) limitBodyIdleTime(request.raw, reply.raw, idleMs);
    done();
  });
  await app.register(multipart, {
    // Keeps folders in file names: the routes check them.
    preservePath: true,
    limits: { fileSize: maxFileBytes, files: maxFiles, fields: 10, parts: maxFiles + 10 },
  });
}

/** The files of the form field `files`. Throws `invalid_request` when there are none, or one is not text. */
export async function formFiles(request: FastifyRequest): Promise<FormFile[]> {
  if (!request.isMultipart()) throw new AppError('unsupported_media_type', 'The files must be sent as a form');
  const files: FormFile[] = [];
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue;
      const bytes = await part.toBuffer();
      if (part.fieldname !== 'files') throw new AppError('invalid_request', `Unknown field "${part.fieldname}"`);
      files.push({ fileName: part.filename, text: textIn(bytes, part.filename) });
    }
  } catch (error) {
    throw isNamed(error) ? error : new AppError('invalid_request', formFault(error), { cause: error });
  }
  if (files.length === 0) throw new AppError('invalid_request', 'The form holds no file');
  return files;
}

/** The form parser throws errors without a code for an invalid form. */
const isNamed = (error: unknown): boolean => error instanceof AppError || (error instanceof Error && 'code' in error);

const formFault = (error: unknown): string => {
  const why = error instanceof Error ? error.message.replace(/^Multipart: /, '') : '';
  return `The form is not valid multipart/form-data${why === '' ? '' : `: ${why}`}`;
};

function textIn(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError('invalid_request', `"${name}" is not UTF-8 text`, { cause: error });
  }
}
