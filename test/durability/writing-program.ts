import { openServices } from '../../src/services/open-services.ts';
import { saying } from '../../src/testing/contracts/events.ts';

// Appends to several sessions as fast as it can, and says each event's name once it is stored. It is there to be killed.

const [, , uri = '', round = ''] = process.argv;
const { sessions } = openServices({ sessionService: uri, artifactService: 'memory:', memoryService: 'memory:' });
const appName = 'kill';

await Promise.all(
  Array.from({ length: 8 }, async (_, index) => {
    const userId = `user-${index}`;
    const sessionId = `s-${index}`;
    const session =
      (await sessions.getSession({ appName, userId, sessionId })) ??
      (await sessions.createSession({ appName, userId }, { sessionId }));
    for (let step = 0; ; step += 1) {
      const event = saying('x'.repeat(200), { [`k${step % 5}`]: step, 'user:last': `${round}-${step}` });
      const { id } = await sessions.appendEvent(session, { ...event, id: `${round}-${index}-${step}` });
      process.stdout.write(`${id}\n`);
    }
  }),
);
