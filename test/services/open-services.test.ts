import { expect, it } from 'vitest';
import { openServices } from '../../src/services/open-services.ts';

const memory = { sessionService: 'memory:', artifactService: 'memory:', memoryService: 'memory:' };

it('takes what the name of an engine leaves out from the environment, or says what is missing', async () => {
  const sessionService = 'agentengine://123';

  expect(() => openServices({ ...memory, sessionService })).toThrow(
    '"agentengine://123" needs GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or to be written as ' +
      'agentengine://projects/PROJECT/locations/LOCATION/reasoningEngines/123',
  );
  const google = { project: 'p', location: 'eu', vertexUrl: 'https://127.0.0.1:1' };
  const { sessions, databases } = openServices({ ...memory, sessionService, google });
  await expect(sessions.check?.()).rejects.toMatchObject({
    code: 'unavailable',
    message: '"projects/p/locations/eu/reasoningEngines/123" needs a Google credential',
  });
  await databases.close();
});
