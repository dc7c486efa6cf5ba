import { setImmediate as nextIteration } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { SessionService } from '../../core/services.ts';
import { textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { SessionSummaries, SessionSummary } from '../../schemas/extensions.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';

export const sessionsPerPage = 200;
const defaultPageSize = 50;
/** Events searched for the first user message: only state changes come before it. */
const eventsForTitle = 20;
const titleLength = 80;
const searchPage = 500;
/** After so many events a search returns its results and a cursor. */
const eventsPerSearch = 10_000;

export interface SummaryQuery {
  readonly pageSize?: number | undefined;
  readonly q?: string | undefined;
  readonly cursor?: string | undefined;
}

/** A page of an owner's sessions, newest first. Uses only methods that every session store has. Throws `invalid_request`. */
export async function sessionSummaries(
  sessions: SessionService,
  owner: SessionOwner,
  { pageSize = defaultPageSize, q = '', cursor }: SummaryQuery,
): Promise<SessionSummaries> {
  const size = Math.min(Math.max(1, pageSize), sessionsPerPage);
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rest = after(cursor, (await sessions.listSessions(owner)).toSorted(newestFirst));
  const found: SessionSummary[] = [];
  let budget = eventsPerSearch;
  for (const [index, session] of rest.entries()) {
    if (found.length === size || budget <= 0) return { sessions: found, cursor: cursorAfter(rest[index - 1]) };
    const key = { ...owner, sessionId: session.id };
    const summary = await summaryOf(sessions, key, session);
    if (!summary) continue; // deleted since it was listed
    if (holdsAll(`${summary.title} ${session.id}`, words)) {
      found.push(summary);
      continue;
    }
    const match = await matchIn(sessions, key, words, (count) => (budget -= count));
    if (match !== undefined) found.push({ ...summary, match });
    await nextIteration(); // lets other requests run during a long search
  }
  return { sessions: found };
}

async function summaryOf(
  sessions: SessionService,
  key: SessionKey,
  session: Session,
): Promise<SessionSummary | undefined> {
  const page = await unlessGone(sessions.listEvents(key, { pageSize: eventsForTitle }));
  if (!page) return undefined;
  const { displayName, ...metadata } = metadataOf(session);
  const named = typeof displayName === 'string' ? displayName.trim() : '';
  const said = page.events.find((event) => event.author === 'user' && textOf(event.content) !== '');
  const title = named || (said && shortened(textOf(said.content, ' '))) || session.id;
  return {
    id: session.id,
    title,
    titleSource: named ? 'name' : title === session.id ? 'id' : 'message',
    lastUpdateTime: session.lastUpdateTime,
    eventCount: page.total,
    metadata,
  };
}

/** The text around the newest place where an event holds all the words. */
async function matchIn(
  sessions: SessionService,
  key: SessionKey,
  words: readonly string[],
  spend: (events: number) => void,
): Promise<string | undefined> {
  let pageToken: string | undefined;
  do {
    const page = await unlessGone(
      sessions.listEvents(key, { pageSize: searchPage, order: 'desc', ...(pageToken && { pageToken }) }),
    );
    if (!page) return undefined;
    spend(page.events.length);
    for (const event of page.events) {
      const text = searchable(event);
      if (holdsAll(text, words)) return excerpt(text, words[0] ?? '');
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return undefined;
}

const searchable = ({ content, errorMessage = '' }: Event): string => `${textOf(content, ' ')} ${errorMessage}`.trim();

function holdsAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

const before = 40;
const behind = 80;

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const start = Math.max(0, at - before);
  const end = at + word.length + behind;
  const piece = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${piece}${end < text.length ? '…' : ''}`;
}

const segmenter = new Intl.Segmenter();

function shortened(text: string): string {
  const line = text
    .slice(0, titleLength * 20)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const letters = Array.from(segmenter.segment(line), ({ segment }) => segment);
  return letters.length <= titleLength ? line : `${letters.slice(0, titleLength).join('').trimEnd()}…`;
}

function metadataOf({ state }: Session): JsonObject {
  const metadata = state['__session_metadata__'];
  return isJsonObject(metadata) ? metadata : {};
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined;
    throw error;
  }
}

type Place = Pick<Session, 'lastUpdateTime' | 'id'>;

const newestFirst = (a: Place, b: Place): number =>
  b.lastUpdateTime - a.lastUpdateTime || (a.id < b.id ? -1 : Number(a.id > b.id));

function cursorAfter(last: Place | undefined): string {
  return Buffer.from(JSON.stringify([last?.lastUpdateTime ?? Number.MAX_SAFE_INTEGER, last?.id ?? ''])).toString(
    'base64url',
  );
}

function after(cursor: string | undefined, sorted: Session[]): Session[] {
  if (cursor === undefined) return sorted;
  const place = placeIn(cursor);
  return sorted.filter((session) => newestFirst(place, session) < 0);
}

function placeIn(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [lastUpdateTime, id] = Array.isArray(place) ? (place as unknown[]) : [];
    if (typeof lastUpdateTime === 'number' && typeof id === 'string') return { lastUpdateTime, id };
  } catch {
    // said below
  }
  throw new AppError('invalid_request', `"${cursor}" is not a cursor`);
}
