import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { MemoryService } from '../../core/services.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import { keyOf, type Session, type SessionKey, type SessionOwner } from '../../schemas/session.ts';
import { textIn, type VertexApi } from '../vertex/vertex-api.ts';
import { entriesIn, fileNameOf, fileText, isFileOf } from './rag-files.ts';

/** Excerpts per search. Those of other users are removed afterwards. */
const maxExcerpts = 100;
/** Maximum vector distance of an excerpt, as in ADK. */
const maxDistance = 10;

/** Remembers sessions as files of a Vertex AI RAG corpus. Finds excerpts similar to a query. */
export class RagMemories implements MemoryService {
  readonly #api: VertexApi;

  constructor(api: VertexApi) {
    this.#api = api;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const displayName = fileNameOf(keyOf(session));
    const before = await this.#filesNamed(displayName);
    const text = fileText(session.events);
    if (text !== '') await this.#upload(displayName, text);
    await this.#delete(before);
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    if (query.trim() === '') return [];
    const place = this.#api.resource.split('/ragCorpora/', 1)[0] ?? '';
    const { status, body } = await this.#api.retryWhileUnavailable(() =>
      this.#api.call(`${place}:retrieveContexts`, {
        body: {
          vertexRagStore: { ragResources: [{ ragCorpus: this.#api.resource }] },
          query: {
            text: query,
            ragRetrievalConfig: { topK: maxExcerpts, filter: { vectorDistanceThreshold: maxDistance } },
          },
        },
      }),
    );
    if (status !== 200) throw this.#api.notThere();
    const { contexts } = isJsonObject(body['contexts']) ? body['contexts'] : {};
    const pieces = Array.isArray(contexts) ? contexts.filter(isJsonObject) : [];
    const own = pieces.filter((piece) => isFileOf(textIn(piece['sourceDisplayName']), owner));
    return entriesIn(own.map((piece) => textIn(piece['text'])));
  }

  async deleteSessionMemory(key: SessionKey): Promise<void> {
    await this.#delete(await this.#filesNamed(fileNameOf(key)));
  }

  async check(): Promise<void> {
    const { status } = await this.#api.call(this.#api.resource);
    if (status === 404) throw this.#api.notThere();
  }

  async close(): Promise<void> {
    this.#api.close();
  }

  async #upload(displayName: string, text: string): Promise<void> {
    // Not repeated: if the response is lost, the next upload of the session replaces the file.
    const { status, body } = await this.#api.upload(
      '/ragFiles:upload',
      { rag_file: { display_name: displayName } },
      text,
    );
    if (status !== 200) throw this.#api.notThere();
    const failure = body['error'];
    if (!isJsonObject(failure)) return;
    throw new AppError('unavailable', `The corpus rejected the session: ${textIn(failure['message'])}`);
  }

  /** Full names of the files of a session. */
  async #filesNamed(displayName: string): Promise<string[]> {
    const names: string[] = [];
    for await (const file of this.#api.list('/ragFiles', 'ragFiles')) {
      if (file['displayName'] === displayName) names.push(textIn(file['name']));
    }
    return names;
  }

  async #delete(files: readonly string[]): Promise<void> {
    for (const file of files) {
      const { status, body } = await this.#api.retryWhileUnavailable(() => this.#api.call(file, { method: 'DELETE' }));
      if (status === 200 && body['name'] !== undefined) await this.#api.finished(body);
    }
  }
}
