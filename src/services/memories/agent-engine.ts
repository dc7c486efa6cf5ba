import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MemoryService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionOwner } from '../../schemas/session.ts';
import { textIn, type VertexApi } from '../vertex/vertex-api.ts';

/** Facts of one answer. */
const maxFacts = 20;
/** Messages of one request: a session that is longer is told in several. */
const messagesAtOnce = 100;

/**
 * The memory bank of a Vertex AI Agent Engine: it makes facts of what was said, some time later, and finds those that are
 * near to a question. Facts are the user's, not a session's.
 */
export class AgentEngineMemories implements MemoryService {
  readonly #api: VertexApi;

  constructor(api: VertexApi) {
    this.#api = api;
  }

  async addSessionToMemory(session: Session): Promise<void> {
    const events = session.events.flatMap(toldToBank);
    for (let start = 0; start < events.length; start += messagesAtOnce) {
      const some = events.slice(start, start + messagesAtOnce);
      const body = { directContentsSource: { events: some }, scope: scopeOf(session) };
      const { status, body: operation } = await this.#api.insist(() => this.#api.call('/memories:generate', { body }));
      if (status !== 200) throw this.#api.notThere();
      // Making facts takes a model its time; only a refusal is heard at once.
      if (operation['done'] === true) await this.#api.finished(operation);
    }
  }

  async searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    if (query.trim() === '') return [];
    const similaritySearchParams = { searchQuery: query, topK: maxFacts };
    const { status, body } = await this.#api.insist(() =>
      this.#api.call('/memories:retrieve', { body: { scope: scopeOf(owner), similaritySearchParams } }),
    );
    if (status !== 200) throw this.#api.notThere();
    const found = Array.isArray(body['retrievedMemories']) ? body['retrievedMemories'].filter(isJsonObject) : [];
    return found.flatMap(({ memory }) => (isJsonObject(memory) ? [entryOf(memory)] : []));
  }

  /** Nothing: the bank does not know which session a fact is from. */
  async deleteSessionMemory(): Promise<void> {
    // Facts that were made of it stay, as docs/storage.md tells.
  }

  async check(): Promise<void> {
    const { status } = await this.#api.call('/memories', { query: { pageSize: '1' } });
    if (status === 404) throw this.#api.notThere();
  }

  async close(): Promise<void> {
    this.#api.close();
  }
}

/** As ADK's servers name it. The service takes no asterisks. */
const scopeOf = ({ appName, userId }: SessionOwner): JsonObject => ({
  app_name: withoutAsterisk(appName),
  user_id: withoutAsterisk(userId),
});

const withoutAsterisk = (name: string): string =>
  /\*|%25|%2A/.test(name) ? name.replaceAll('%', '%25').replaceAll('*', '%2A') : name;

/** What a message says or shows; thoughts and calls are nothing to remember. */
function toldToBank({ content }: Event): JsonObject[] {
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
