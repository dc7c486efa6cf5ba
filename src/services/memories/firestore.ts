import { randomUUID } from 'node:crypto';
import type * as Sdk from '@google-cloud/firestore';
import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';
import { type FirestoreDatabase, isConflict, type OpenFirestore } from '../firestore/database.ts';
import { deleteAll, documentId, keptText, maxCommitBytes, readText, writeParts } from '../firestore/documents.ts';
import { memoryOf, type MemoryRow, tokenOf } from './memory-rows.ts';
import { wordsOf } from './words.ts';

/** Words per document: each is an index entry, of which a document may have 40,000. */
const wordsInDocument = 4000;
/** Firestore's limit per query. */
const wordsInQuery = 30;
/** Documents per commit, besides the limit in bytes. */
const maxWrites = 300;
const maxTries = 10;

/** The collections of one owner. */
interface OwnerFolder {
  /** One document per session, with the valid `generation` of its messages. */
  readonly sessions: Sdk.CollectionReference;
  readonly messages: Sdk.CollectionReference;
  /** Parts of texts that do not fit into one document. */
  readonly parts: Sdk.CollectionReference;
}

/**
 * Remembers sessions in Firestore. Messages are written with a new generation, which one later write makes the valid one,
 * so a session is replaced atomically.
 */
export class FirestoreMemories implements MemoryService {
  readonly #database: FirestoreDatabase;

  constructor(database: FirestoreDatabase) {
    this.#database = database;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const { rows, ...key } = memoryOf(session);
    const generation = randomUUID();
    await this.#database.retryWhileUnavailable((open) => writeMessages(open, { key, generation, rows }));
    for (let attempt = 0; ; attempt += 1) {
      try {
        const replaced = await this.#database.run((open) => switchGeneration(open, key, generation));
        if (replaced !== undefined) await this.#database.run((open) => forget(open, key, 'generation', replaced));
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === maxTries) throw error;
        await this.#database.pause(Math.random() * 50 * (attempt + 1));
      }
    }
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    const wanted = [...wordsOf(query)].map(tokenOf);
    return this.#database.run(async (open) => {
      const { sessions, messages, parts } = folderOf(open, owner);
      const found = new Map<string, Sdk.DocumentSnapshot>();
      for (let start = 0; start < wanted.length; start += wordsInQuery) {
        const some = wanted.slice(start, start + wordsInQuery);
        const { docs } = await messages.where('words', 'array-contains-any', some).get();
        // A message with very many words is found in several documents.
        for (const message of docs) found.set(String(message.get('message')), message);
      }
      if (found.size === 0) return [];
      const ids = [...new Set(Array.from(found.values(), (message) => String(message.get('session'))))];
      const heads = await open.db.getAll(...ids.map((id) => sessions.doc(id)));
      const current = new Set(heads.map((head): unknown => head.get('generation')));
      const entries: MemoryEntry[] = [];
      for (const message of [...found.values()].toSorted(byTime)) {
        if (!current.has(message.get('generation'))) continue;
        const text = await readText(message, parts, String(message.get('message')));
        entries.push(JSON.parse(text) as MemoryEntry);
      }
      return entries;
    });
  }

  deleteSessionMemory(key: SessionKey): Promise<void> {
    return this.#database.retryWhileUnavailable(async (open) => {
      await folderOf(open, key).sessions.doc(sessionOf(key)).delete();
      await forget(open, key, 'session', sessionOf(key));
    });
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const sessionOf = ({ sessionId }: SessionKey): string => documentId(sessionId);

function folderOf({ collection }: OpenFirestore, { appName, userId }: SessionOwner): OwnerFolder {
  const owner = collection('memories').doc(documentId(appName, userId));
  return {
    sessions: owner.collection('sessions'),
    messages: owner.collection('messages'),
    parts: owner.collection('parts'),
  };
}

interface NewMessages {
  readonly key: SessionKey;
  readonly generation: string;
  readonly rows: readonly MemoryRow[];
}

/** Idempotent: a repetition writes the same documents. */
async function writeMessages(open: OpenFirestore, { key, generation, rows }: NewMessages): Promise<void> {
  const { messages, parts } = folderOf(open, key);
  const session = sessionOf(key);
  let batch = open.db.batch();
  let bytes = 0;
  let writes = 0;
  for (const { position, entry, timestamp, tokens } of rows) {
    const message = `${generation}-${position}`;
    const text = keptText(entry);
    await writeParts(parts, message, text, { session, generation });
    for (let start = 0; start < tokens.length; start += wordsInDocument) {
      const words = tokens.slice(start, start + wordsInDocument);
      const size = (text.parts.length > 0 ? 0 : text.size) + words.join().length + 1000;
      if (writes === maxWrites || bytes + size > maxCommitBytes) {
        await batch.commit();
        batch = open.db.batch();
        bytes = 0;
        writes = 0;
      }
      const data = { session, generation, message, position, saidAt: timestamp, words, ...text.fields };
      batch.set(messages.doc(`${message}-${start}`), data);
      bytes += size;
      writes += 1;
    }
  }
  await batch.commit();
}

/** Makes a generation the valid one. Returns the replaced one, which only this writer has to delete. */
async function switchGeneration(open: OpenFirestore, key: SessionKey, generation: string): Promise<string | undefined> {
  const ref = folderOf(open, key).sessions.doc(sessionOf(key));
  const { sessionId } = key;
  const head = await ref.get();
  if (!head.exists) {
    await ref.create({ sessionId, generation });
    return undefined;
  }
  const before = String(head.get('generation'));
  if (before === generation) return undefined; // the response to our own write was lost
  await ref.update({ generation }, { lastUpdateTime: head.updateTime ?? head.readTime });
  return before;
}

async function forget(open: OpenFirestore, owner: SessionOwner, field: string, value: string): Promise<void> {
  const { messages, parts } = folderOf(open, owner);
  for (const collection of [messages, parts]) await deleteAll(open.db, collection.where(field, '==', value));
}

function byTime(a: Sdk.DocumentSnapshot, b: Sdk.DocumentSnapshot): number {
  for (const field of ['saidAt', 'session', 'position']) {
    const [one, other] = [a.get(field) as number | string, b.get(field) as number | string];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
