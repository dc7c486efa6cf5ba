import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AccessLimits } from '../../../src/tools/access-limits.ts';
import { server } from '../server.ts';

const yaml = (text: string): string => `name: cook\ninstruction: ${text}\n`;

async function builder(
  files: Readonly<Record<string, string>> = { 'apps/cook/root_agent.yaml': yaml('old') },
  builderLimits?: AccessLimits,
) {
  const folder = mkdtempSync(join(tmpdir(), 'builder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'apps');
  mkdirSync(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { app } = await server({ config: { builderRoot: root, ...(builderLimits && { builderLimits }) } });
  const post = async (url: string, uploads: Readonly<Record<string, string>>, headers = {}) => {
    const boundary = 'x-boundary-x';
    const parts = Object.entries(uploads).map(
      ([name, text]) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\ncontent-type: application/x-yaml\r\n\r\n${text}\r\n`,
    );
    const answer = await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
      payload: `${parts.join('')}--${boundary}--\r\n`,
    });
    return { status: answer.statusCode, body: answer.json() as unknown };
  };
  const read = async (query = ''): Promise<string> => (await app.inject(`/dev/apps/cook/builder${query}`)).body;
  const onDisk = (path: string): string => readFileSync(join(root, path), 'utf8');
  return { app, root, folder, post, read, onDisk };
}

it('writes files of an app, with or without its name in front, and makes new apps', async () => {
  const { post, read, onDisk } = await builder();

  const answer = await post('/dev/apps/cook/builder/save', {
    'cook/root_agent.yaml': yaml('new'),
    'helper.yaml': yaml('x').replace('cook', 'helper'),
  });

  expect(answer).toEqual({ status: 200, body: true });
  expect(await read()).toBe(yaml('new'));
  expect(onDisk('cook/helper.yaml')).toContain('helper');
  expect(await post('/builder/save', { 'fresh/root_agent.yaml': yaml('x') })).toEqual({ status: 200, body: true });
  expect(onDisk('fresh/root_agent.yaml')).toBe(yaml('x'));
});

it('keeps a draft apart until it is saved', async () => {
  const { root, post, read, onDisk } = await builder();

  expect(await read('?tmp=true')).toBe(yaml('old'));
  await post('/dev/apps/cook/builder/save?tmp=true', {
    'cook/root_agent.yaml': yaml('draft'),
    'cook/a.yml': yaml('a'),
  });

  expect(await read()).toBe(yaml('old'));
  expect(await read('?tmp=true')).toBe(yaml('draft'));
  expect(onDisk('cook/tmp/cook/a.yml')).toBe(yaml('a'));
  await post('/dev/apps/cook/builder/save', { 'cook/root_agent.yaml': yaml('final') });
  expect(await read()).toBe(yaml('final'));
  expect(readdirSync(join(root, 'cook')).toSorted()).toEqual(['a.yml', 'root_agent.yaml']);
});

it.each(['/dev/apps/cook/builder/cancel', '/builder/app/cook/cancel'])('drops the draft at %s', async (url) => {
  const { app, root, post, read } = await builder();
  await post('/dev/apps/cook/builder/save?tmp=true', { 'root_agent.yaml': yaml('draft') });

  const first = await app.inject({ method: 'POST', url, payload: {} });
  const second = await app.inject({ method: 'POST', url, payload: {} });

  expect([first.json(), second.json()]).toEqual([true, false]);
  expect(existsSync(join(root, 'cook/tmp'))).toBe(false);
  expect(await read()).toBe(yaml('old'));
});

it.each([
  ['../evil.yaml', yaml('x')],
  ['cook/../../evil.yaml', yaml('x')],
  ['/tmp/evil.yaml', yaml('x')],
  ['C:/evil.yaml', yaml('x')],
  ['cook\\\\evil.yaml', yaml('x')],
  ['cook/agent.ts', 'export {}'],
  ['cook/evil.yaml.ts', 'export {}'],
  ['cook/.hidden.yaml', yaml('x')],
  ['cook/tmp/x.yaml', yaml('x')],
  ['cook/a/b/c/d/e/f.yaml', yaml('x')],
  ['cook/x.yaml', 'name: [open'],
  ['cook/x.yaml', '- a list'],
  ['cook/x.yaml', 'name: x\n'],
  ['cook/x.yaml', 'name: !!js/function x\n'],
  ['cook/x.yaml', `${yaml('x')}---\n${yaml('x')}`],
  ['cook/x.yaml', `${yaml('x')}agent_class: os.system\n`],
  ['cook/x.yaml', `${yaml('x')}tools:\n- name: McpToolset\n  args: { stdio_connection_params: { command: sh } }\n`],
])('refuses %s as %j and writes nothing', async (name, text) => {
  const { folder, root, post } = await builder();

  const answer = await post('/dev/apps/cook/builder/save', { 'cook/fine.yaml': yaml('x'), [name]: text });

  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(readdirSync(join(root, 'cook'))).toEqual(['root_agent.yaml']);
  expect(readdirSync(folder)).toEqual(['apps']);
});

it('follows no link out of the folder of the apps', async () => {
  const { root, folder, post, read, app } = await builder({
    'apps/cook/root_agent.yaml': yaml('old'),
    'out/secret.yaml': 'secret',
  });
  symlinkSync(join(folder, 'out'), join(root, 'cook/linked'));
  symlinkSync(join(folder, 'out'), join(root, 'cook/tmp'));
  symlinkSync(join(folder, 'out'), join(root, 'away'));
  symlinkSync(join(folder, 'out/secret.yaml'), join(root, 'cook/file.yaml'));

  for (const [url, name] of [
    ['/dev/apps/cook/builder/save', 'cook/linked/x.yaml'],
    ['/dev/apps/cook/builder/save', 'cook/file.yaml'],
    ['/dev/apps/cook/builder/save?tmp=true', 'cook/x.yaml'],
    ['/dev/apps/away/builder/save', 'away/x.yaml'],
  ] as const) {
    expect((await post(url, { [name]: yaml('x') })).status).toBe(400);
  }
  expect((await app.inject({ method: 'POST', url: '/dev/apps/cook/builder/cancel' })).statusCode).toBe(400);
  expect(await read('?file_path=file.yaml')).toBe('');
  expect(await read('?file_path=linked/secret.yaml')).toBe('');
  expect(readdirSync(join(folder, 'out'))).toEqual(['secret.yaml']);
  expect(readFileSync(join(folder, 'out/secret.yaml'), 'utf8')).toBe('secret');
});

it('refuses large files, empty forms and what is no form', async () => {
  const { app, post } = await builder();
  const url = '/dev/apps/cook/builder/save';

  expect((await post(url, { 'x.yaml': 'a'.repeat(1_000_001) })).status).toBe(413);
  expect((await post(url, {})).status).toBe(400);
  expect((await app.inject({ method: 'POST', url, payload: {} })).statusCode).toBe(415);
});

it('takes nothing from pages of other sites', async () => {
  const { post, read } = await builder();

  const answer = await post(
    '/dev/apps/cook/builder/save',
    { 'root_agent.yaml': yaml('evil') },
    { origin: 'https://evil.example' },
  );

  expect(answer.status).toBe(403);
  expect(await read()).toBe(yaml('old'));
});

it('leaves the neighbours of an app alone that is served by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'builder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { app } = await server({ config: { builderRoot: folder, builderApp: 'cook' } });

  const answer = await app.inject({ method: 'POST', url: '/dev/apps/other/builder/cancel' });

  expect(answer.statusCode).toBe(400);
});

it('does not exist outside development mode', async () => {
  const { app } = await server();

  for (const url of ['/dev/apps/cook/builder/save', '/builder/save', '/dev/apps/cook/builder/cancel']) {
    expect((await app.inject({ method: 'POST', url, payload: {} })).statusCode).toBe(404);
  }
});

it.each([
  ['My_App 2', 'my-app-2'],
  ['3rd', 'adk-3rd'],
])('fills the deploy dialog of ADK for %s in with names, and deploys nothing', async (displayName, serviceName) => {
  const apps = { demo: { name: displayName, rootAgent: { name: 'agent', run: async function* () {} } } };
  const { app } = await server({ apps });

  expect((await app.inject('/dev/apps/demo/deploy/defaults')).json()).toEqual({ displayName, serviceName });
});

it('writes no file that names what agents of YAML files may not reach', async () => {
  const tool = 'tools:\n  - name: McpToolset\n    args: { sse_server_params: { url: "http://127.0.0.1:9650" } }\n';
  const file = { 'cook/root_agent.yaml': `${yaml('new')}${tool}` };
  const kept = await builder(undefined, { publicOnly: true });
  const free = await builder(undefined, {});

  const refused = await kept.post('/dev/apps/cook/builder/save', file);

  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(JSON.stringify(refused.body)).toContain('--allow-config-private-hosts');
  expect(await kept.read()).toBe(yaml('old'));
  expect((await free.post('/dev/apps/cook/builder/save', file)).status).toBe(200);
});

const head = 'content-disposition: form-data; name="files"; filename="cook/root_agent.yaml"';

it.each([
  ['no boundary', 'multipart/form-data', '--b\r\n'],
  ['an empty boundary', 'multipart/form-data; boundary=', '--b\r\n'],
  ['a boundary that is too long', `multipart/form-data; boundary=${'b'.repeat(300)}`, `--${'b'.repeat(300)}\r\n`],
  ['nothing', 'multipart/form-data; boundary=b', ''],
  ['its first line only', 'multipart/form-data; boundary=b', '--b\r\n'],
  ['half a file', 'multipart/form-data; boundary=b', `--b\r\n${head}\r\n\r\nname: co`],
  ['headers without an end', 'multipart/form-data; boundary=b', `--b\r\n${head}`],
  ['headers that are none', 'multipart/form-data; boundary=b', '--b\r\n: x\r\n\r\nx\r\n--b--\r\n'],
  ['another boundary', 'multipart/form-data; boundary=b', `--c\r\n${head}\r\n\r\nname: cook\r\n--c--\r\n`],
])('answers 400 to a form with %s', async (_what, type, payload) => {
  const { app, onDisk } = await builder();

  const headers = { 'content-type': type };
  const answer = await app.inject({ method: 'POST', url: '/dev/apps/cook/builder/save', headers, payload });

  expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: 'invalid_request' }]);
  expect(onDisk('cook/root_agent.yaml')).toBe(yaml('old'));
});

it.each([
  ['a tool that is not there', `${yaml('x')}tools: [{ name: os.system }]\n`, /os\.system/],
  [
    'a reference out of the folder',
    `${yaml('x')}sub_agents: [{ config_path: ../x.yaml }]\n`,
    /leads out of the folder/,
  ],
  ['a reference to nothing', `${yaml('x')}sub_agents: [{ config_path: none.yaml }]\n`, /does not exist/],
  ['a callback that is not there', `${yaml('x')}before_agent_callbacks: [{ name: x.y }]\n`, /x\.y/],
])('stores no root agent with %s, but drafts it', async (_what, text, fault) => {
  const { root, post, onDisk } = await builder();
  const files = { 'cook/root_agent.yaml': text };

  const refused = await post('/dev/apps/cook/builder/save', files);
  const fresh = await post('/builder/save', { 'fresh/root_agent.yaml': text });

  for (const answer of [refused, fresh]) {
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', detail: expect.stringMatching(fault) },
    });
  }
  expect(onDisk('cook/root_agent.yaml')).toBe(yaml('old'));
  expect(readdirSync(root)).toEqual(['cook']);
  expect(await post('/dev/apps/cook/builder/save?tmp=true', files)).toEqual({ status: 200, body: true });
});

it('loads what it stores with the other files of the draft and the app', async () => {
  const { post, onDisk } = await builder({
    'apps/cook/root_agent.yaml': yaml('old'),
    'apps/cook/registry.mjs': 'export const stir = () => undefined;',
    'apps/cook/there.yaml': yaml('x').replace('cook', 'there'),
  });
  await post('/dev/apps/cook/builder/save?tmp=true', { 'drafted.yaml': yaml('x').replace('cook', 'drafted') });
  const text =
    `${yaml('new')}sub_agents: [{ config_path: there.yaml }, { config_path: drafted.yaml }, { config_path: sent.yaml }]\n` +
    'before_agent_callbacks: [{ name: stir }]\n';

  const answer = await post('/dev/apps/cook/builder/save', {
    'cook/root_agent.yaml': text,
    'cook/sent.yaml': yaml('x').replace('cook', 'sent'),
  });

  expect(answer).toEqual({ status: 200, body: true });
  expect(onDisk('cook/root_agent.yaml')).toBe(text);
  expect(onDisk('cook/drafted.yaml')).toContain('drafted');
});

it.each(['agent.ts', 'agent.mjs'])('takes no app over that is made by %s', async (file) => {
  const { root, post } = await builder({ [`apps/cook/${file}`]: 'export {};' });

  for (const query of ['', '?tmp=true']) {
    const answer = await post(`/dev/apps/cook/builder/save${query}`, { 'cook/root_agent.yaml': yaml('x') });
    expect(answer).toMatchObject({ status: 409, body: { code: 'app_exists' } });
  }
  expect(readdirSync(join(root, 'cook'))).toEqual([file]);
});

it('writes nothing when a draft is read', async () => {
  const { root, read } = await builder();

  expect(await read('?tmp=true')).toBe(yaml('old'));
  expect(readdirSync(join(root, 'cook'))).toEqual(['root_agent.yaml']);
});
