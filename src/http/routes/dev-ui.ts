import { z } from 'zod';
import { type Operation, operation } from '../operation.ts';

const tag = 'User interface';
const home = '/dev-ui/';

export function devUiOperations(): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/', '/dev-ui'],
      tag,
      summary: 'Go to the user interface',
      answer: { status: 307 },
      handle(_input, { request, reply }) {
        const query = request.url.indexOf('?');
        return reply.redirect(query < 0 ? home : home + request.url.slice(query), 307);
      },
    }),
    operation({
      method: 'GET',
      paths: ['/dev-ui/assets/config/runtime-config.json'],
      tag,
      summary: 'Tell the user interface where its server is: here',
      answer: { schema: z.object({ backendUrl: z.string(), telemetry: z.boolean() }) },
      handle: () => ({ backendUrl: '', telemetry: false }),
    }),
  ];
}
