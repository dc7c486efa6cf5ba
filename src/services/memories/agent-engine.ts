import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MemoryService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionOwner } from '../../schemas/session.ts';
import { textIn, type VertexApi } from '../vertex/vertex-api.ts';

/** Facts per search. */
const maxFacts = 20;
/** Messages per request. A longer session is sent in several. */
const messagesAtOnce = 100;

/**
 * The memory bank of a Vertex AI Agent Engine. It extracts facts from messages, with a delay, and finds those similar to a
 * query. Facts belong to a user, not to a session.
 */
export class AgentEngineMemories implements MemoryService {
  readonly #api: VertexApi;

  constructor(api: VertexApi) {
    this.#api = api;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const events = session.events.flatMap(partsToRemember);
    for (let start = 0; start < events.length; start += messagesAtOnce) {
      const some = events.slice(start, start + messagesAtOnce);
      const body = { directContentsSource: { events: some }, scope: scopeOf(session) };
      const { status, body: operation } = await this.#api.retryWhileUnavailable(() =>
        this.#api.call('/memories:generate', { body }),
      );
      if (status !== 200) throw this.#api.notThere();
      // A model extracts the facts later; only a rejection comes at once.
      if (operation['done'] === true) await this.#api.finished(operation);
    }
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    if (query.trim() === '') return [];
    const similaritySearchParams = { searchQuery: query, topK: maxFacts };
    const { status, body } = await this.#api.retryWhileUnavailable(() =>
      this.#api.call('/memories:retrieve', { body: { scope: scopeOf(owner), similaritySearchParams } }),
    );
    if (status !== 200) throw this.#api.notThere();
    const found = Array.isArray(body['retrievedMemories']) ? body['retrievedMemories'].filter(isJsonObject) : [];
    return found.flatMap(({ memory }) => (isJsonObject(memory) ? [entryOf(memory)] : []));
  }

  /** Does nothing: the bank does not know which session a fact comes from. */
  async deleteSessionMemory(): Promise<void> {
    // Facts of the session stay: see docs/storage.md.
  }

  async check(): Promise<void> {
    const { status } = await this.#api.call('/memories', { query: { pageSize: '1' } });
    if (status === 404) throw this.#api.notThere();
  }

  async close(): Promise<void> {
    this.#api.close();
  }
}

/** The scope as in ADK's servers. The service rejects asterisks. */
const scopeOf = ({ appName, userId }: SessionOwner): JsonObject => ({
  app_name: withoutAsterisk(appName),
  user_id: withoutAsterisk(userId),
});

const withoutAsterisk = (name: string): string =>
  /\*|%25|%2A/.test(name) ? name.replaceAll('%', '%25').replaceAll('*', '%2A') : name;

/** The text and media of a message, without thoughts and calls. */
function partsToRemember({ content }: Event): JsonObject[] {
  if (!content) return [];
  const parts = content.parts.filter(
    (part) => !part.thought && (part.text?.trim() || part.inlineData !== undefined || part.fileData !== undefined),
  );
  const plain = parts.map(({ text, inlineData, fileData }) => ({ text, inlineData, fileData }));
  return plain.length === 0 ? [] : [{ content: { role: content.role ?? 'user', parts: plain } }];
}

function entryOf({ name, fact, updateTime, createTime }: JsonObject): MemoryEntry {
  const timestamp = textIn(updateTime, textIn(createTime));
  return {
    id: textIn(name).split('/').at(-1) ?? '',
    author: 'user',
    content: { role: 'user', parts: [{ text: textIn(fact) }] },
    ...(timestamp !== '' && { timestamp }),
  };
}
