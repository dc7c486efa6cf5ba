import { expect, it } from 'vitest';
import { client, startOidcProvider } from '../../support/oidc-provider.ts';
import { loginServer, Visitor } from './scene.ts';

async function scene({ isUp = true, claims = {} }: { isUp?: boolean; claims?: object } = {}) {
  const provider = await startOidcProvider();
  const server = await loginServer({
    auth: {
      keys: undefined,
      login: { issuer: provider.url, ...client },
      jwt: [
        {
          issuer: provider.url,
          audience: ['agents'],
          claims: { roles: 'groups', rolesMap: { staff: ['operator'] }, ...claims },
        },
      ],
    },
  });
  if (isUp) await provider.serve(`${server.url}/auth/callback`);
  return { ...server, provider, visitor: new Visitor(server.url) };
}

/** Follows redirects to a page, or up to an address that begins with `until`. */
async function follow(visitor: Visitor, address: string, until?: string) {
  let at = new URL(address, visitor.url).href;
  for (;;) {
    const answer = await visitor.send(at);
    const location = answer.headers.get('location');
    if (location === null) return { ...answer, at };
    at = new URL(location, at).href;
    if (until !== undefined && at.startsWith(until)) return { ...answer, at };
  }
}

/** Fills in the form of the provider's page, and follows. */
async function submit(
  visitor: Visitor,
  page: { text: string; at: string },
  fields: Record<string, string>,
  until?: string,
) {
  const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const address = new URL(action, page.at).href;
  const answer = await visitor.send(address, { form: fields });
  return follow(visitor, new URL(answer.headers.get('location') ?? '', address).href, until);
}

/** Logs in at the provider; gives the address of the callback with the provider's answer. */
async function returnAs(user: string, visitor: Visitor, query = ''): Promise<string> {
  const form = await follow(visitor, `/auth/login${query}`);
  const consent = await submit(visitor, form, { prompt: 'login', login: user, password: 'any' });
  return (await submit(visitor, consent, { prompt: 'consent' }, `${visitor.url}/auth/callback`)).at;
}

it('logs a user in by the code flow, with roles by claims', async () => {
  const { visitor, url, provider } = await scene();

  expect((await visitor.send('/auth/methods')).body).toEqual({ key: false, issuer: provider.url });
  const start = await visitor.send('/auth/login?return=/dev-ui/apps/demo%3Ft=1');
  const sent = new URL(start.headers.get('location') ?? '');
  expect(start.status).toBe(303);
  expect(sent.origin).toBe(provider.url);
  expect(Object.fromEntries(sent.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'agents',
    code_challenge_method: 'S256',
    redirect_uri: `${url}/auth/callback`,
  });
  expect(start.set).toEqual([
    expect.stringMatching(/^agent-server-login-pending=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/),
  ]);

  const callback = await returnAs('op-ada', visitor, '?return=/dev-ui/apps/demo%3Ft=1');
  const back = await visitor.send(callback);

  expect([back.status, back.headers.get('location')]).toEqual([303, '/dev-ui/apps/demo?t=1']);
  expect(back.set.at(-1)).toMatch(/^agent-server-login=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  expect((await visitor.send('/auth/me')).body).toMatchObject({
    id: `${provider.url}|op-ada`,
    userId: 'op-ada',
    roles: ['user', 'operator'],
    loggedIn: true,
  });
  expect((await visitor.send('/apps/demo/users/op-ada/sessions')).status).toBe(200);
  // The answer of the provider counts once.
  expect((await visitor.send(callback)).headers.get('location')).toBe('../dev-ui/login?failed=expired');

  await visitor.send('/auth/logout', { json: {} });
  expect((await visitor.send('/auth/me')).status).toBe(401);
});

it('keeps users apart', async () => {
  const { visitor } = await scene();
  await visitor.send(await returnAs('ada', visitor));

  expect((await visitor.send('/apps/demo/users/ada/sessions', { json: {} })).status).toBe(200);
  expect((await visitor.send('/apps/demo/users/bob/sessions')).status).toBe(403);
});

it('accepts the answer of the provider in the browser that asked, unchanged, and no other', async () => {
  const { visitor, url } = await scene();
  const failure = async (address: string, who = visitor): Promise<string | null> => {
    const { headers, set } = await who.send(address);
    expect(set.filter((cookie) => /^agent-server-login=./.test(cookie))).toEqual([]);
    return headers.get('location');
  };
  const [failed, expired] = ['../dev-ui/login?failed=refused', '../dev-ui/login?failed=expired'];
  const mine = await returnAs('ada', visitor);
  const eve = new Visitor(url);
  const hers = new URL(await returnAs('eve', eve));
  const other = new URL(mine);
  const pending = new Map(visitor.cookies);
  const again = (): Visitor => {
    const next = new Visitor(url);
    for (const [name, value] of pending) next.cookies.set(name, value);
    return next;
  };

  expect(await failure(mine, new Visitor(url))).toBe(expired);
  // An attacker who lets the victim's browser finish the attacker's own login.
  expect(await failure(hers.href, again())).toBe(failed);
  other.searchParams.set('code', hers.searchParams.get('code') ?? '');
  expect(await failure(other.href, again())).toBe(failed);
  other.searchParams.set('iss', 'https://evil.example');
  expect(await failure(other.href, again())).toBe(failed);
  expect(await failure(`${url}/auth/callback`, again())).toBe(failed);
  expect(
    await failure(`${url}/auth/callback?error=access_denied&state=${other.searchParams.get('state')}`, again()),
  ).toBe(failed);
});

it('says on the login page when the provider refuses or is away', async () => {
  const { visitor, url, provider } = await scene({ isUp: false });

  expect((await visitor.send('/auth/login')).headers.get('location')).toBe('../dev-ui/login?failed=unavailable');
  await provider.serve(`${url}/auth/callback`);
  const start = await visitor.send('/auth/login');
  const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const denied = new URLSearchParams({ error: 'access_denied', state, iss: provider.url });
  expect((await visitor.send(`/auth/callback?${denied.toString()}`)).headers.get('location')).toBe(
    '../dev-ui/login?failed=denied',
  );
});

it('refuses a user whom the claims do not name', async () => {
  const { visitor } = await scene({ claims: { user: 'email' } });

  const back = await visitor.send(await returnAs('ada', visitor));

  expect(back.headers.get('location')).toBe('../dev-ui/login?failed=refused');
  expect((await visitor.send('/auth/me')).status).toBe(401);
});

it.each(['//evil.example', 'https://evil.example', '/..//evil.example', String.raw`/\evil.example`])(
  'does not return to %s',
  async (address) => {
    const { visitor } = await scene();

    const answer = await visitor.send(`/auth/login?return=${encodeURIComponent(address)}`);

    expect([answer.status, answer.set]).toEqual([400, []]);
  },
);
