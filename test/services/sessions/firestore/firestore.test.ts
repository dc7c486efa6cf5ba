import { randomUUID } from 'node:crypto';
import { FirestoreSessionTables } from '../../../../src/services/sessions/firestore/firestore.ts';
import { SqlSessions } from '../../../../src/services/sessions/sql-sessions.ts';
import { sessionServiceContract } from '../../../../src/testing/contracts/sessions.ts';
import { retentionContract } from '../../../contracts/retention.ts';
import { firestoreForTests, isRealFirestore } from '../../../support/firestore.ts';

if (!isRealFirestore) console.info('Firestore: a local double; TEST_FIRESTORE_PROJECT names a real one');
const firestore = firestoreForTests();

sessionServiceContract('Firestore', () => new SqlSessions(new FirestoreSessionTables(firestore.open())));
retentionContract(
  'Firestore',
  async () => new SqlSessions(new FirestoreSessionTables(firestore.open(`test-${randomUUID()}`))),
);
