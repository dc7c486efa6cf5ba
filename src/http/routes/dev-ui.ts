import { z } from 'zod';
import type { Access } from '../access/caller.ts';
import type { LoginDeps } from '../login/login-deps.ts';
import { type Operation, operation } from '../operation.ts';

const tag = 'User interface';
/** From `/dev-ui` relative, so that it is right below a path that a proxy adds, too. */
const homes: Readonly<Record<string, string>> = { '/': '/dev-ui/', '/dev-ui': './dev-ui/' };

/** What the pages of the web UI require. They hold no data, and the login page is one of them. */
export const pagesAccess = (login: LoginDeps | undefined): Access => ({
  role: login?.keys || login?.issuer ? 'public' : 'any',
  user: 'none',
});

export function devUiOperations(login: LoginDeps | undefined): Operation[] {
  const access = pagesAccess(login);
  return [
    operation({
      method: 'GET',
      paths: ['/', '/dev-ui'],
      tag,
      access,
      summary: 'Go to the user interface',
      response: { status: 307 },
      handle(_input, { request, reply }) {
        const [path = '', ...query] = request.url.split('?');
        const home = homes[path] ?? '/dev-ui/';
        return reply.redirect(query.length === 0 ? home : `${home}?${query.join('?')}`, 307);
      },
    }),
    operation({
      method: 'GET',
      paths: ['/dev-ui/assets/config/runtime-config.json'],
      tag,
      access,
      summary: 'Tell the user interface where its server is: here',
      response: { schema: z.object({ backendUrl: z.string(), telemetry: z.boolean() }) },
      handle: () => ({ backendUrl: '', telemetry: false }),
    }),
  ];
}
