import { z } from 'zod';
import { AppError } from '../../../base/errors.ts';
import { lenient } from '../../../schemas/lenient.ts';
import { type Operation, operation } from '../../operation.ts';
import { AppParams, QueryFlag } from '../../requests/path-params.ts';
import { formFiles } from '../../requests/uploads.ts';
import { type BuilderFiles, uploadPath } from './builder-files.ts';

const SaveQuery = lenient({ tmp: QueryFlag.optional() });

/** The write side of the visual builder: for servers in development mode only. */
export function builderWriteOperations(files: BuilderFiles): Operation[] {
  return [
    operation({
      method: 'POST',
      paths: ['/dev/apps/{appName}/builder/save'],
      tag: 'Builder',
      access: { role: 'developer', user: 'none' },
      summary: 'Write YAML files of an app (multipart field "files"); tmp=true keeps them as a draft',
      params: AppParams,
      query: SaveQuery,
      response: { schema: z.boolean() },
      async handle({ params: { appName }, query }, { request }) {
        const uploads = await formFiles(request);
        const written = uploads.map(({ fileName, text }) => ({ path: uploadPath(fileName, appName), text }));
        await files.save(appName, written, query.tmp ?? false);
        return true;
      },
    }),
    operation({
      method: 'POST',
      paths: ['/builder/save'],
      tag: 'Builder',
      access: { role: 'developer', user: 'none' },
      summary: 'The same; the app is the first part of the file names',
      query: SaveQuery,
      response: { schema: z.boolean() },
      async handle({ query }, { request, caller }) {
        const uploads = await formFiles(request);
        const [appName = ''] = uploads[0]?.fileName.split('/') ?? [];
        const isOneApp = uploads.every(({ fileName }) => fileName.startsWith(`${appName}/`));
        if (!isOneApp) throw new AppError('invalid_request', 'The file names must start with one app and a slash');
        caller.checkApp(appName);
        const written = uploads.map(({ fileName, text }) => ({ path: uploadPath(fileName, appName), text }));
        await files.save(appName, written, query.tmp ?? false);
        return true;
      },
    }),
    operation({
      method: 'POST',
      paths: ['/dev/apps/{appName}/builder/cancel', '/builder/app/{appName}/cancel'],
      tag: 'Builder',
      access: { role: 'developer', user: 'none' },
      summary: 'Drop the draft of an app',
      params: AppParams,
      response: { schema: z.boolean() },
      handle: ({ params }) => files.cancel(params.appName),
    }),
  ];
}
