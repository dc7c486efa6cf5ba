import type { ServerResponse } from 'node:http';
import { HttpDouble } from './http-double.ts';
import { type ObjectHandler, ObjectStoreDouble } from './object-store.ts';
import { failure, page } from './vertex-double.ts';

type Json = Record<string, unknown>;

/** How near a text is to a question: by the words they share, which is far from what the service does, but ranks alike. */
const nearness = (text: string, query: string): number => {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  return (query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => words.has(word)).length;
};

interface BankBody {
  readonly scope?: Json;
  readonly directContentsSource?: { readonly events: readonly { content: { parts: readonly { text?: string }[] } }[] };
  readonly similaritySearchParams?: { readonly searchQuery: string; readonly topK?: number };
}

/** The memory banks of Agent Engines: each message becomes a fact of its own, at once. */
export async function memoryBankDouble(): Promise<HttpDouble<BankBody>> {
  const double = await HttpDouble.start<BankBody>();
  const facts: { memory: Json; engine: string; scope: string; fact: string }[] = [];
  double.answer(({ path, body }) => {
    const [, engine = '', action] = /^\/v1beta1\/(.+)\/memories(?::(\w+))?(?:\?|$)/.exec(path) ?? [];
    if (engine.endsWith('/missing')) return failure(404, 'Reasoning engine not found');
    const scope = JSON.stringify(body?.scope);
    if (scope?.includes('*')) return failure(400, 'Scope values cannot contain wildcards');
    if (action === 'generate') {
      for (const { content } of body.directContentsSource?.events ?? []) {
        const fact = `The user heard: ${content.parts.map(({ text = '' }) => text).join(' ')}`;
        const name = `${engine}/memories/${facts.length + 1}`;
        facts.push({ memory: { name, fact, updateTime: '2026-01-01T10:00:00Z' }, engine, scope, fact });
      }
      return { json: { name: `${engine}/operations/1` } };
    }
    if (action !== 'retrieve') return { json: {} };
    const { searchQuery = '', topK = 3 } = body.similaritySearchParams ?? {};
    const near = facts
      .filter((one) => one.engine === engine && one.scope === scope && nearness(one.fact, searchQuery) > 0)
      .toSorted((a, b) => nearness(b.fact, searchQuery) - nearness(a.fact, searchQuery));
    return { json: { retrievedMemories: near.slice(0, topK).map(({ memory }) => ({ memory, distance: 0.5 })) } };
  });
  return double;
}

/** Characters of one piece: they begin and end anywhere in a file, and overlap. */
const pieceSize = 400;

/** A RAG corpus: files are cut into pieces, of which those are found that share words with the question. */
export const ragDouble = (): ObjectStoreDouble => new ObjectStoreDouble(handlerOf);

function handlerOf(store: ObjectStoreDouble): ObjectHandler {
  return ({ method, url, headers, body }, response) => {
    const path = decodeURIComponent(url.pathname).replace(/^\/(?:upload\/)?v1beta1\//, '');
    if (path.endsWith('/ragFiles:upload')) return void keep(store, path, { headers, body }, response);
    if (path.endsWith(':retrieveContexts')) {
      const { query } = JSON.parse(body.toString()) as { query: { text: string } };
      return json(response, 200, { contexts: { contexts: contextsIn(store, query.text) } });
    }
    if (path.endsWith('/ragFiles')) {
      const files = store.names(`${path}/`, null).map((name) => ({ name, ...store.objects.get(name)!.metadata }));
      return json(response, 200, page(files, 'ragFiles', url.searchParams).json as Json);
    }
    if (method === 'DELETE') {
      const wasThere = store.objects.delete(path);
      return json(response, wasThere ? 200 : 404, wasThere ? { name: `${path}/operations/1`, done: true } : {});
    }
    json(response, path.endsWith('/missing') ? 404 : 200, { name: path });
  };
}

async function keep(
  store: ObjectStoreDouble,
  path: string,
  { headers, body }: { headers: Readonly<Record<string, unknown>>; body: Buffer },
  response: ServerResponse,
): Promise<void> {
  const sent = new Response(new Uint8Array(body), { headers: { 'content-type': String(headers['content-type']) } });
  const form = await sent.formData();
  const [metadata, file] = [form.get('metadata'), form.get('file')];
  const text = typeof metadata === 'string' ? metadata : ((await metadata?.text()) ?? '');
  const about = JSON.parse(text) as { rag_file: { display_name: string } };
  const bytes = typeof file === 'string' ? file : ((await file?.text()) ?? '');
  if (bytes.includes('poison')) return json(response, 200, { error: { code: 3, message: 'cannot be read' } });
  const displayName = about.rag_file.display_name;
  const name = `${path.replace(/:upload$/, '')}/${store.requests.length}`;
  store.keep(name, Buffer.from(bytes), 'text/plain', { displayName });
  json(response, 200, { ragFile: { name, displayName } });
}

function contextsIn({ objects }: ObjectStoreDouble, query: string): Json[] {
  return [...objects.values()].flatMap(({ bytes, metadata }) => {
    const text = bytes.toString();
    const pieces = Array.from({ length: Math.ceil(text.length / (pieceSize / 2)) }, (_, index) =>
      text.slice((index * pieceSize) / 2, (index * pieceSize) / 2 + pieceSize),
    );
    return pieces
      .filter((piece) => nearness(piece, query) > 0)
      .map((piece) => ({ sourceDisplayName: metadata['displayName'], text: piece, score: 0.4 }));
  });
}

const json = (response: ServerResponse, status: number, body: Json): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
