import { beforeAll, expect, it } from 'vitest';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { PostgresSessionTables } from '../../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { sessionServiceContract } from '../../../src/testing/contracts/sessions.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
beforeAll(async () => {
  uri = await newDatabase();
});

const open = (): SqlSessions => new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));

sessionServiceContract('PostgreSQL', open);

it('says that a database that takes no writes is unavailable, and reads on', async () => {
  const own = await newDatabase();
  const database = new PostgresDatabase(own);
  const sessions = new SqlSessions(new PostgresSessionTables(database));
  const owner = { appName: 'app', userId: 'ada' };
  await sessions.createSession(owner, { sessionId: 's1' });
  await database.query(`alter database ${new URL(own).pathname.slice(1)} set default_transaction_read_only = on`);
  await sessions.close();

  const standby = new SqlSessions(new PostgresSessionTables(new PostgresDatabase(own)));
  const refused = { code: 'unavailable', retryAfter: 2 };
  await expect(standby.check()).rejects.toMatchObject(refused);
  await expect(standby.createSession(owner)).rejects.toMatchObject(refused);
  expect(await standby.getSession({ ...owner, sessionId: 's1' })).toMatchObject({ id: 's1' });
  await standby.close();
});
