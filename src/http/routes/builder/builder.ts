import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { AgentLoader } from '../../../core/runtime.ts';
import { lenient } from '../../../schemas/lenient.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Operation, operation } from '../../operation.ts';
import { AppParams, QueryFlag } from '../../requests/path-params.ts';
import { BuilderFiles } from './builder-files.ts';
import { builderWriteOperations } from './builder-writes.ts';

const rootFile = 'root_agent.yaml';
const BuilderQuery = lenient({ filePath: z.string().max(256).optional(), tmp: QueryFlag.optional() });

/** The routes of the visual builder: reading always, writing in development mode (with a `builderRoot`). */
export function builderOperations({ loader, config }: Pick<HttpDeps, 'loader' | 'config'>): Operation[] {
  const root = config?.builderRoot;
  const files =
    root === undefined
      ? undefined
      : new BuilderFiles(root, { only: config?.builderApp, limits: config?.builderLimits });
  return [
    operation({
      method: 'GET',
      paths: ['/dev/apps/{appName}/builder', '/builder/app/{appName}'],
      tag: 'Builder',
      access: { role: 'developer', user: 'none' },
      summary: 'Read a YAML file of an app; empty when there is none',
      params: AppParams,
      query: BuilderQuery,
      response: {
        schema: z.unknown(),
        mediaType: 'application/x-yaml',
        description: 'The text of the file; nothing where there is none',
      },
      async handle({ params, query }, { reply }) {
        const { appName } = params;
        const path = query.filePath ?? rootFile;
        const text = files
          ? await files.read(appName, path, query.tmp ?? false).catch(() => '') // as below: an empty page
          : await yamlFile(loader, appName, path);
        return reply
          .header('content-type', 'application/x-yaml')
          .header('cache-control', 'no-store')
          .header('content-disposition', 'attachment; filename="agent.yaml"')
          .send(Buffer.from(text));
      },
    }),
    operation({
      method: 'GET',
      paths: ['/dev/apps/{appName}/deploy/defaults'],
      tag: 'Builder',
      access: { role: 'developer', user: 'none' },
      summary: 'What the deploy dialog of ADK is filled in with; this server deploys nothing',
      params: AppParams,
      response: { schema: z.object({ displayName: z.string(), serviceName: z.string() }) },
      async handle({ params }) {
        const { name } = await loader.loadAgent(params.appName);
        return { displayName: name, serviceName: serviceName(name) };
      },
    }),
    ...(files ? builderWriteOperations(files) : []),
  ];
}

/** The name as Cloud Run and Kubernetes take it: up to 63 of `a-z`, `0-9` and `-`, a letter first. */
function serviceName(name: string): string {
  const slug = name.toLowerCase().replaceAll(/[^a-z\d]+/g, '-');
  return `${/^[a-z]/.test(slug) ? '' : 'adk-'}${slug}`.slice(0, 63).replaceAll(/--+/g, '-').replace(/-$/, '');
}

/** The text of a YAML file inside the app's folder, links followed; empty for everything else. */
async function yamlFile(loader: AgentLoader, appName: string, path: string): Promise<string> {
  if (!/\.ya?ml$/i.test(path)) return '';
  try {
    const { folder } = await loader.loadAgent(appName);
    if (folder === undefined) return '';
    const file = await realpath(join(folder, path));
    const inside = relative(await realpath(folder), file);
    if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return '';
    return await readFile(file, 'utf8');
  } catch {
    return ''; // unknown app, broken app, no such file: the builder starts with an empty page
  }
}
