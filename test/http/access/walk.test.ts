import { expect, it } from 'vitest';
import { hasRole } from '../../../src/core/principal.ts';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import type { CallerIdentity } from '../../../src/identity/authenticate-function.ts';
import type { Role } from '../../../src/schemas/principal.ts';
import { type CallerName, callers, type Credential, knowingServer, runOf } from './scene.ts';

type Server = Awaited<ReturnType<typeof knowingServer>>;

interface Described {
  /** Method and path template. */
  readonly name: string;
  readonly path: string;
  readonly isPublic: boolean;
  readonly role: Role | undefined;
  readonly hasBody: boolean;
}

/** Where operations name the user that have no `{userId}` in the path. */
const inBody = [
  'POST /run',
  'POST /run-sse',
  'POST /run_sse',
  'POST /apps/{appName}/tools/run',
  /^POST (?:\/dev)?\/apps\/\{appName\}\/eval[-_]sets\/\{evalSetId\}\/add[-_]session$/,
];
const inQuery = ['GET /traces', 'GET /run_live', 'GET /run-live', 'GET /dev/apps/{appName}/sessions/{sessionId}/spans'];

const isListed = (name: string, list: readonly (string | RegExp)[]): boolean =>
  list.some((one) => (typeof one === 'string' ? one === name : one.test(name)));

/** Every operation of the API, and pages of the web UI. */
async function operationsOf({ call }: Server): Promise<Described[]> {
  const document = JSON.parse((await call('all', 'GET /openapi.json')).text) as OpenApiDocument;
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      isPublic: operation.security?.length === 0,
      role: operation['x-required-role'] as Role | undefined,
      hasBody: operation.requestBody !== undefined,
    })),
  );
  const pages = ['/dev-ui/', '/dev-ui/sessions', '/dev-ui/assets/app.js'].map((path) => ({
    name: `GET ${path}`,
    path,
    isPublic: false,
    role: undefined,
    hasBody: false,
  }));
  return [...described, ...pages];
}

const requestFor = ({ name, path, hasBody }: Described, userId: string, appName = 'demo') => {
  const names: Record<string, string> = { appName, userId };
  const place = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => names[key] ?? 'unknown');
  const query = isListed(name, inQuery) ? `?userId=${userId}&appName=${appName}&sessionId=unknown` : '';
  const body = isListed(name, inBody)
    ? { ...runOf(userId, { appName }), agent: 'demo', name: 'none', evalId: 'e' }
    : hasBody
      ? {}
      : undefined;
  return [`${name.split(' ')[0] ?? ''} ${place}${query}`, body] as const;
};

const namesUser = ({ name, path }: Described): boolean =>
  path.includes('{userId}') || isListed(name, inBody) || isListed(name, inQuery);

const mayNameAda = (name: CallerName): boolean => {
  const caller: CallerIdentity = callers[name];
  return caller.userId === 'ada' || caller.actsForUsers === true || caller.roles?.includes('operator') === true;
};

const rolesOf = (name: CallerName): ReadonlySet<Role> => {
  const caller: CallerIdentity = callers[name];
  return new Set(caller.roles ?? ['user']);
};

async function outcomes(
  server: Server,
  expected: (operation: Described) => string,
  ask: (operation: Described) => Promise<{ status: number; text: string }>,
): Promise<{ wanted: string[]; found: string[] }> {
  const [wanted, found]: [string[], string[]] = [[], []];
  for (const operation of await operationsOf(server)) {
    const { status, text } = await ask(operation);
    const code = status === 401 || status === 403 ? /"code":"(\w+)"/.exec(text)?.[1] : undefined;
    wanted.push(`${operation.name}: ${expected(operation)}`);
    found.push(`${operation.name}: ${code ?? 'let in'}`);
  }
  return { wanted, found };
}

it.each<Credential>([undefined, 'bad'])(
  'answers no operation but the public ones with the credential %s',
  async (credential) => {
    const server = await knowingServer();
    const { wanted, found } = await outcomes(
      server,
      ({ isPublic }) => (isPublic ? 'let in' : 'unauthenticated'),
      (operation) => server.call(credential, ...requestFor(operation, 'ada')),
    );
    expect(found).toEqual(wanted);
    expect(wanted.filter((line) => line.endsWith('let in'))).toEqual([
      'GET /health: let in',
      'GET /ready: let in',
      'GET /version: let in',
    ]);
    expect(wanted.length).toBeGreaterThan(120);
  },
);

it.each(Object.keys(callers).filter((name) => name !== 'elsewhere') as CallerName[])(
  'lets %s do what the role allows, for users who may be named',
  async (name) => {
    const server = await knowingServer();
    const { wanted, found } = await outcomes(
      server,
      (operation) => {
        const { role, isPublic } = operation;
        if (isPublic) return 'let in';
        if (role && !hasRole({ roles: rolesOf(name) }, role)) return 'forbidden';
        if (namesUser(operation)) return mayNameAda(name) ? 'let in' : 'forbidden';
        const isLookup = /^GET \S*\/(?:debug\/trace|traces)\//.test(operation.name);
        return isLookup && name === 'program' ? 'forbidden' : 'let in';
      },
      (operation) => server.call(name, ...requestFor(operation, 'ada')),
    );
    expect(found).toEqual(wanted);
  },
);

it('keeps callers to their apps', async () => {
  const server = await knowingServer();
  const { wanted, found } = await outcomes(
    server,
    (operation) =>
      operation.path.includes('{appName}') || isListed(operation.name, [...inBody, ...inQuery])
        ? 'forbidden'
        : 'let in',
    (operation) => server.call('elsewhere', ...requestFor(operation, 'ada')),
  );
  expect(found).toEqual(wanted);
  expect((await server.call('elsewhere', 'GET /list-apps')).text).toBe('["other"]');
  expect((await server.call('ada', 'GET /list-apps')).text).toBe('["demo","other"]');
});

it('names the role of each operation in the description of the API, and only where callers are known', async () => {
  const knowing = await knowingServer();
  const roles = new Map((await operationsOf(knowing)).map(({ name, role }) => [name, role]));
  expect(roles.get('POST /run')).toBe('user');
  expect(roles.get('GET /apps/{appName}/app-info')).toBe('developer');
  expect(roles.get('GET /capabilities')).toBe(undefined);
  const document = JSON.parse((await knowing.call('ada', 'GET /openapi.json')).text) as OpenApiDocument;
  expect(Object.keys(document.components.securitySchemes ?? {})).toEqual(['bearer', 'apiKey']);

  const open = await knowingServer({ authenticate: undefined });
  const { text } = await open.call(undefined, 'GET /openapi.json');
  expect(text).not.toContain('"security');
  expect(text).not.toContain('x-required-role');
});

it('tells a caller without a credential nothing of which addresses there are', async () => {
  const { call } = await knowingServer();
  for (const operation of [
    'GET /nowhere',
    'PUT /run',
    'HEAD /list-apps',
    'GET /apps/demo/users/ada/sessions/x/artifacts/',
  ]) {
    const answer = await call(undefined, operation);
    expect([operation, answer.status, answer.headers.get('www-authenticate')]).toEqual([operation, 401, 'Bearer']);
  }
  expect((await call('bob', 'HEAD /apps/demo/users/ada/sessions')).status).toBe(403);
  expect((await call('bob', 'HEAD /apps/demo/users/%61da/sessions')).status).toBe(403);
  expect((await call('ada', 'GET /nowhere')).status).toBe(404);
  expect((await call('ada', 'PUT /run')).status).toBe(405);
  expect((await call(undefined, 'HEAD /health')).status).toBe(200);
  expect((await call(undefined, 'OPTIONS /run')).status).toBe(204);
});
