import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import type { Toolset } from '../../../src/core/runtime.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { Conversation, summary } from '../../support/fake-run.ts';

const broken = (error: Error): Toolset => ({
  kind: 'toolset',
  name: 'mail',
  getTools: () => Promise.reject(error),
  close: async () => {},
});
const failure = new AppError(
  'McpToolLoadingException',
  'The MCP server "mail" answered with HTTP status 403 (Forbidden)',
);
const clock = functionTool({ name: 'clock', description: 'Tells the time', run: () => ({ time: 'noon' }) });

function agentWith(toolset: Toolset, requests: ModelRequest[] = []): Conversation {
  const script = [
    { match: 'mail', calls: [{ name: 'send_mail', args: {} }] },
    { match: 'time', calls: [{ name: 'clock', args: {} }] },
    { after: 'send_mail', text: 'I cannot.' },
    { after: 'clock', text: 'It is noon.' },
  ];
  const seen = { beforeModel: ({ request }: { request: ModelRequest }) => void requests.push(request) };
  return new Conversation(
    llmAgent({ name: 'agent', model: 'scripted', instruction: 'Help.', script, tools: [toolset, clock], ...seen }),
  );
}

it('leaves an agent its other tools when a toolset fails, logs why, and tells the model', async () => {
  const requests: ModelRequest[] = [];
  const chat = agentWith(broken(failure), requests);

  const events = await chat.send('what time is it?');

  expect(summary(events)).toEqual(['agent: clock({})', 'agent: clock -> {"time":"noon"}', 'agent: It is noon.']);
  expect(chat.log[0]).toMatchObject({ agent: 'agent', toolset: 'mail', code: 'McpToolLoadingException' });
  expect(requests[0]!.config.systemInstruction).toBe(
    'Help.\n\nThe tools of "mail" cannot be used at the moment. If they are needed, tell the user so.',
  );
});

it('answers a call of a tool that is missing with the reason', async () => {
  const events = await agentWith(broken(failure)).send('send a mail');

  expect(summary(events)[1]).toBe(
    'agent: send_mail -> {"error":"There is no tool \\"send_mail\\". The tools you can call are: clock. The tools of \\"mail\\" are missing: The MCP server \\"mail\\" answered with HTTP status 403 (Forbidden).","errorCode":"McpToolLoadingException"}',
  );
  expect(summary(events).at(-1)).toBe('agent: I cannot.');
});

it('ends the run when a toolset is set up wrongly', async () => {
  const wrong = broken(new AppError('ConfigurationException', 'Toolset "mail" has two tools named "send"'));

  await expect(agentWith(wrong).send('hi')).rejects.toMatchObject({ code: 'ConfigurationException' });
});
