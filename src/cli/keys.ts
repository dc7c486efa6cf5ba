import { timeToLive } from '../app/config-values.ts';
import type { Config } from '../app/config.ts';
import { openKeyStore } from '../app/open-authenticator.ts';
import { didYouMean } from '../base/closest.ts';
import { AppError, errorText } from '../base/errors.ts';
import type { KeyStore } from '../core/key-store.ts';
import { type NewApiKey, newApiKey } from '../identity/api-keys.ts';
import { ApiKey } from '../schemas/api-key.ts';
import { PrincipalLimits } from '../schemas/principal.ts';
import { Databases } from '../services/open-services.ts';
import type { CommandLine } from './command-line.ts';
import { UsageError } from './usage-error.ts';

type Flags = CommandLine['own'];

const actions = ['create', 'list', 'revoke'];

/** Runs `keys create`, `keys list` or `keys revoke ID`. Resolves with the exit code. Throws UsageError. */
export async function manageKeys(
  config: Config,
  { operands, own }: Pick<CommandLine, 'operands' | 'own'>,
): Promise<number> {
  const [action = '', id] = operands;
  if (!actions.includes(action)) {
    const hint = action === '' ? '' : didYouMean(action, actions);
    throw new UsageError(`Name what to do: keys ${actions.join(', keys ')} ID${hint}`);
  }
  if ((id === undefined) === (action === 'revoke')) {
    throw new UsageError(id === undefined ? 'Name the id of the key: keys revoke ID' : `Unexpected argument "${id}"`);
  }
  const databases = new Databases();
  try {
    const store = openKeyStore(config, { databases, log: { warn: (_, message) => say(`warning: ${message}`) } });
    if (!store) throw new UsageError('Say where the keys are: --auth-keys FILE, or --auth-keys database');
    if (action === 'create') return await create(store, own);
    if (action === 'list') return await list(store, own.has('json'));
    return await revoke(store, id ?? '', own.has('json'));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    say(
      `${errorText(error)}${error.code === 'unavailable' && error.cause !== undefined ? `: ${errorText(error.cause)}` : ''}`,
    );
    return 1;
  } finally {
    await databases.close();
  }
}

async function create(store: KeyStore, flags: Flags): Promise<number> {
  const { text, record } = newApiKey(fieldsOf(flags));
  await store.add(ApiKey.parse(record));
  if (flags.has('json')) {
    print(JSON.stringify({ key: text, ...shown(record) }, null, 2));
    return 0;
  }
  // The key alone, so that a script can take it.
  print(text);
  say(
    `${describe(record)}\nKeep the key: it cannot be shown again. Callers send it as "Authorization: Bearer …" or "x-api-key".`,
  );
  return 0;
}

async function list(store: KeyStore, isJson: boolean): Promise<number> {
  const keys = await store.list();
  if (isJson) print(JSON.stringify(keys.map(shown), null, 2));
  else for (const key of keys) print(describe(key));
  return 0;
}

async function revoke(store: KeyStore, named: string, isJson: boolean): Promise<number> {
  const key = await store.revoke(named.replace(/^(?:key:|ask_)/, '').replace(/_.*$/, ''), new Date().toISOString());
  if (!key) {
    say(`There is no key "${named}"`);
    return 1;
  }
  if (isJson) print(JSON.stringify(shown(key), null, 2));
  else say(describe(key));
  return 0;
}

/** Throws UsageError for flags that make no key. */
function fieldsOf(flags: Flags): NewApiKey {
  const text = (name: string): string | undefined => {
    const value = flags.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const names = (name: string): string[] | undefined =>
    text(name)
      ?.split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  const [owner, userId, apps] = [text('owner'), text('user'), names('apps')];
  const [limits, expiresAt] = [limitsIn(text('limits')), expiryIn(text('expires'))];
  const fields = ApiKey.omit({ id: true, hash: true, createdAt: true, revokedAt: true }).safeParse({
    owner: owner ?? '',
    actsForUsers: flags.has('acts-for-users'),
    roles: names('roles') ?? ['user'],
    ...(userId !== undefined && { userId }),
    ...(apps && { apps }),
    ...(limits && { limits }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  if (owner === undefined) throw new UsageError('Say who has the key: --owner TEXT');
  if (!fields.success) {
    const [issue] = fields.error.issues;
    const flag = String(issue?.path[0] ?? '').replace('userId', 'user');
    throw new UsageError(`--${flag} ${issue?.message ?? 'is wrong'}`);
  }
  const { actsForUsers, roles } = fields.data;
  if (userId === undefined && !actsForUsers && roles.every((role) => role === 'user')) {
    throw new UsageError(
      'Say for which user the key is: --user ID, or --acts-for-users for a program that names users',
    );
  }
  return fields.data;
}

function limitsIn(json: string | undefined): PrincipalLimits | undefined {
  if (json === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UsageError('--limits must be JSON such as {"requestsPerMinute":100}');
  }
  const limits = PrincipalLimits.safeParse(value);
  if (limits.success) return limits.data;
  const [issue] = limits.error.issues;
  throw new UsageError(`--limits ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`);
}

/** The time so long from now. */
function expiryIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const life = timeToLive().safeParse(text);
  if (!life.success) throw new UsageError(`--expires ${life.error.issues[0]?.message ?? 'is wrong'}, not "${text}"`);
  return life.data === undefined ? undefined : new Date(Date.now() + life.data).toISOString();
}

/** Everything but the hash, which is of no use to people. */
function shown(key: ApiKey): object {
  const { hash: _, ...fields } = key;
  return { ...fields, state: stateOf(key) };
}

function stateOf({ expiresAt, revokedAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

/** A key in one line. */
function describe(key: ApiKey): string {
  const { id, owner, userId, actsForUsers, apps, roles, limits, createdAt, expiresAt, revokedAt } = key;
  return [
    id,
    stateOf(key),
    `owner ${JSON.stringify(owner)}`,
    ...(userId === undefined ? [] : [`user ${JSON.stringify(userId)}`]),
    ...(actsForUsers ? ['acts for users'] : []),
    `roles ${roles.join(',')}`,
    ...(apps ? [`apps ${apps.join(',')}`] : []),
    ...(limits ? [`limits ${JSON.stringify(limits)}`] : []),
    `created ${createdAt}`,
    ...(expiresAt === undefined ? [] : [`expires ${expiresAt}`]),
    ...(revokedAt === undefined ? [] : [`revoked ${revokedAt}`]),
  ].join('  ');
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const say = (text: string): void => void process.stderr.write(`${text}\n`);
