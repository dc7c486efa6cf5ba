import { type FirestoreDocument, runQuery, type StructuredQuery } from './firestore-query.ts';
import { fieldAt, type FirestoreFields, namesIn, sizeOf, withField } from './firestore-values.ts';
import { type DoubleReply, HttpDouble } from './http-double.ts';

interface Write {
  readonly update?: { readonly name: string; readonly fields?: FirestoreFields };
  readonly delete?: string;
  readonly updateMask?: { readonly fieldPaths?: readonly string[] };
  readonly updateTransforms?: readonly { readonly fieldPath: string; readonly setToServerValue?: number }[];
  readonly currentDocument?: { readonly exists?: boolean; readonly updateTime?: string };
}

interface Body {
  readonly documents?: readonly string[];
  readonly writes?: readonly Write[];
  readonly structuredQuery?: StructuredQuery;
  readonly structuredAggregationQuery?: { readonly structuredQuery: StructuredQuery };
}

class Refusal extends Error {
  readonly reply: DoubleReply;
  constructor(code: number, status: string, message: string) {
    super(message);
    this.reply = { status: code, json: { error: { code, message, status } } };
  }
}

const maxDocument = 1_048_576;
const maxRequest = 10 * 1024 * 1024;

/**
 * A Firestore database on this machine, for the SDK's HTTP side: commits happen whole or not at all, with their
 * preconditions; queries find what a database without made-up indexes finds; limits of size and names hold.
 */
export class FirestoreDouble {
  readonly documents = new Map<string, FirestoreDocument>();
  /** The next commits that are carried out but whose answers are lost. */
  lostAnswers = 0;
  /** The next commits that are refused, as when too many write to one document. */
  contention = 0;
  /** Answers every request with this status while it is set; 404: there is no such database. */
  outage: number | undefined;
  /** Waits before each commit, so that commits of several clients come in between. */
  beforeCommit: (() => Promise<void>) | undefined;
  readonly http: HttpDouble<Body>;
  #clock = Date.now() * 1000;

  private constructor(http: HttpDouble<Body>) {
    this.http = http;
    http.answer(async ({ path, body }) => {
      if (this.outage === 404) {
        return new Refusal(404, 'NOT_FOUND', 'The database (default) does not exist for project test').reply;
      }
      if (this.outage !== undefined) return { status: this.outage };
      try {
        return await this.#answer(path.split('?', 1)[0] ?? '', body);
      } catch (error) {
        if (error instanceof Refusal) return error.reply;
        return new Refusal(400, 'FAILED_PRECONDITION', String(error)).reply;
      } finally {
        http.forget();
      }
    });
  }

  static async start(): Promise<FirestoreDouble> {
    return new FirestoreDouble(await HttpDouble.start<Body>());
  }

  /** As `FIRESTORE_EMULATOR_HOST` takes it. */
  get host(): string {
    return new URL(this.http.url).host;
  }

  close(): Promise<void> {
    return this.http.close();
  }

  /** Puts a document where a test wants it. */
  keep(path: string, fields: FirestoreFields): void {
    const name = `projects/test/databases/(default)/documents/${path}`;
    const time = this.#now();
    this.documents.set(name, { name, fields, createTime: time, updateTime: time });
  }

  /** The ids in a collection, those of documents that are nothing but a way to others included. */
  #list(collection: string): object {
    const below = [...this.documents.keys()].filter((name) => name.startsWith(`${collection}/`));
    const ids = new Set(below.map((name) => name.slice(collection.length + 1).split('/', 1)[0]));
    return { documents: [...ids].map((id) => ({ name: `${collection}/${id}` })) };
  }

  async #answer(path: string, body: Body | undefined): Promise<DoubleReply> {
    if (!body) return { json: this.#list(decodeURIComponent(path.slice('/v1/'.length))) };
    const [, parent = '', action = ''] = /^\/v1\/(.+):(\w+)$/.exec(path) ?? [];
    const readTime = this.#now();
    if (action === 'batchGet') {
      const answers = (body.documents ?? []).map((name) => {
        checkName(name);
        const found = this.documents.get(name);
        return found ? { found, readTime } : { missing: name, readTime };
      });
      return { json: answers };
    }
    if (action === 'runQuery' && body.structuredQuery) {
      const found = runQuery(this.documents.values(), decodeURIComponent(parent), body.structuredQuery);
      return { json: found.length === 0 ? [{ readTime }] : found.map((document) => ({ document, readTime })) };
    }
    if (action === 'runAggregationQuery' && body.structuredAggregationQuery) {
      const { structuredQuery } = body.structuredAggregationQuery;
      const count = runQuery(this.documents.values(), decodeURIComponent(parent), structuredQuery).length;
      return { json: [{ result: { aggregateFields: { aggregate_0: { integerValue: String(count) } } }, readTime }] };
    }
    if (action !== 'commit') throw new Refusal(501, 'UNIMPLEMENTED', `The double cannot ${action}`);
    await this.beforeCommit?.();
    if (this.contention > 0) {
      this.contention -= 1;
      throw new Refusal(409, 'ABORTED', 'Too much contention on these documents');
    }
    const answer = this.#commit(body.writes ?? []);
    if (this.lostAnswers === 0) return { json: answer };
    this.lostAnswers -= 1;
    return { broken: 'reset' };
  }

  /** All of it or, when something is thrown, nothing. */
  #commit(writes: readonly Write[]): object {
    if (JSON.stringify(writes).length > maxRequest) throw new Refusal(400, 'INVALID_ARGUMENT', 'Request too large');
    const time = this.#now();
    const changed = new Map<string, FirestoreDocument | undefined>();
    for (const write of writes) {
      const name = write.update?.name ?? write.delete ?? '';
      checkName(name);
      const before = changed.has(name) ? changed.get(name) : this.documents.get(name);
      checkPrecondition(write, before);
      changed.set(name, write.delete === undefined ? written(write, before, time) : undefined);
    }
    for (const [name, document] of changed) {
      if (document) this.documents.set(name, document);
      else this.documents.delete(name);
    }
    return { writeResults: writes.map(() => ({ updateTime: time })), commitTime: time };
  }

  /** Each time is later than the one before, in microseconds. */
  #now(): string {
    this.#clock = Math.max(this.#clock + 1, Date.now() * 1000);
    const seconds = new Date(Math.floor(this.#clock / 1e6) * 1000).toISOString().slice(0, 19);
    return `${seconds}.${String(this.#clock % 1e6).padStart(6, '0')}Z`;
  }
}

function checkName(name: string): void {
  const ids = name.split('/documents/')[1]?.split('/') ?? [];
  const isFine = ids.length > 0 && ids.length % 2 === 0 && ids.every((id) => /^(?!\.{1,2}$|__.*__$).+$/.test(id));
  if (!isFine || Buffer.byteLength(name) > 6144) throw new Refusal(400, 'INVALID_ARGUMENT', `No name: "${name}"`);
}

function checkPrecondition({ currentDocument }: Write, before: FirestoreDocument | undefined): void {
  if (currentDocument?.exists === false && before) throw new Refusal(409, 'ALREADY_EXISTS', 'Document already exists');
  if (currentDocument?.exists === true && !before) throw new Refusal(404, 'NOT_FOUND', 'No document to update');
  const updated = currentDocument?.updateTime;
  if (updated !== undefined && (!before || microsOf(before.updateTime) !== microsOf(updated))) {
    throw new Refusal(400, 'FAILED_PRECONDITION', 'The document was written since');
  }
}

const microsOf = (time: string): string => `${time.slice(0, 19)}${(/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(6, '0')}`;

function written(write: Write, before: FirestoreDocument | undefined, time: string): FirestoreDocument {
  const { name, fields: given = {} } = write.update ?? { name: '' };
  let fields = write.updateMask ? (before?.fields ?? {}) : given;
  for (const path of write.updateMask?.fieldPaths ?? []) {
    fields = withField(fields, namesIn(path), fieldAt(given, namesIn(path)));
  }
  for (const { fieldPath } of write.updateTransforms ?? []) {
    fields = withField(fields, namesIn(fieldPath), { timestampValue: time });
  }
  if (sizeOf(fields) > maxDocument) {
    throw new Refusal(400, 'INVALID_ARGUMENT', 'Document exceeds the maximum allowed size of 1,048,576 bytes');
  }
  checkFieldNames(fields);
  return { name, fields, createTime: before?.createTime ?? time, updateTime: time };
}

function checkFieldNames(fields: FirestoreFields): void {
  for (const [name, value] of Object.entries(fields)) {
    if (/^__.*__$/.test(name) || Buffer.byteLength(name) > 1500 || !name.isWellFormed()) {
      throw new Refusal(400, 'INVALID_ARGUMENT', `No field name: "${name}"`);
    }
    if (value.mapValue) checkFieldNames(value.mapValue.fields ?? {});
  }
}
