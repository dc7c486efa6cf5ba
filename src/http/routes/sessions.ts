import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { yieldWhenDue } from '../../base/event-loop.ts';
import { isJsonObject } from '../../base/json.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { Runs } from '../../core/runs.ts';
import type { AgentLoader } from '../../core/runtime.ts';
import type { Services, SessionReading } from '../../core/services.ts';
import type { Evaluations } from '../../evaluation/evaluations.ts';
import { newActions } from '../../schemas/event.ts';
import { lenient } from '../../schemas/lenient.ts';
import { ListEventsResponse } from '../../schemas/records.ts';
import { Session, SessionPatch, SessionRequest } from '../../schemas/session-schema.ts';
import type { GetSessionConfig, SessionKey } from '../../schemas/session.ts';
import type { TraceReader } from '../deps.ts';
import { type Operation, operation } from '../operation.ts';
import { openPageToken, pageTokenFor } from '../requests/page-token.ts';
import { QueryCount, QuerySeconds, QuerySize, SessionParams, UserParams } from '../requests/path-params.ts';
import { sendEventPage, sendSession } from '../responses/send-session.ts';
import { listPieces, sendJsonStream } from '../responses/streamed-body.ts';
import { parse } from '../validation.ts';

interface SessionRoutes {
  readonly loader: AgentLoader;
  readonly services: Services;
  readonly runs: Pick<Runs, 'deleteSession'>;
  readonly traces: TraceReader;
  readonly evaluations?: Pick<Evaluations, 'restore'> | undefined;
}

const users = '/apps/{appName}/users/{userId}/sessions';
const one = `${users}/{sessionId}`;
const tag = 'Sessions';
/** How long the list of apps is cached: making it reads folders. */
const appListMs = 1_000;

const SessionQuery = lenient({ numRecentEvents: QueryCount.optional(), afterTimestamp: QuerySeconds.optional() });
const EventsQuery = lenient({
  pageSize: QuerySize.optional(),
  pageToken: z.string().optional(),
  order: z.enum(['asc', 'desc']).optional(),
  from: z.string().optional(),
  after: z.string().optional(),
  before: z.string().optional(),
});
/** `null` and no body at all mean the same as `{}`. */
const NewSession = z.preprocess((body) => body ?? {}, SessionRequest);

export function sessionOperations({ loader, services, runs, traces, evaluations }: SessionRoutes): Operation[] {
  const { sessions } = services;

  const found = async <T>(key: SessionKey, read: () => Promise<T | undefined>): Promise<T> => {
    // A session of an evaluation may have ended with an earlier process; the stored result still has it.
    const session = (await read()) ?? ((await evaluations?.restore(key)) ? await read() : undefined);
    if (!session) throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
    return session;
  };
  const find = (key: SessionKey, config?: GetSessionConfig): Promise<SessionReading> =>
    found(key, () => sessions.readSession?.(key, config) ?? sessions.getSession(key, config));
  const known = { names: new Set<string>(), untilMs: 0 };
  const checkApp = async (appName: string): Promise<void> => {
    const nowMs = performance.now();
    if (known.names.has(appName) && nowMs < known.untilMs) return;
    known.names = new Set(await loader.listAgents());
    known.untilMs = nowMs + appListMs;
    if (!known.names.has(appName)) throw new AppError('app_not_found', `App not found: ${appName}`);
  };

  return [
    operation({
      method: 'GET',
      paths: [users],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'List the sessions of a user, without their events',
      params: UserParams,
      response: { schema: z.array(Session) },
      handle: async ({ params }, { reply }) => sendJsonStream(reply, listPieces(await sessions.listSessions(params))),
    }),
    operation({
      method: 'POST',
      paths: [users],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Create a session; its id is generated unless the body names one',
      params: UserParams,
      body: NewSession,
      response: { schema: Session },
      async handle({ params, body }, { reply, caller }) {
        await checkApp(params.appName);
        const { sessionId, state, events } = body;
        caller.checkSession(body);
        await yieldWhenDue();
        return sendSession(reply, await sessions.createSession(params, { sessionId, state, ...brought(events) }));
      },
    }),
    operation({
      method: 'GET',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Read a session with its events',
      params: SessionParams,
      query: SessionQuery,
      response: { schema: Session },
      handle: async ({ params, query }, { reply }) => sendSession(reply, await find(params, query)),
    }),
    operation({
      method: 'POST',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Create a session under an id of your own; a body that is not a session request is its state',
      params: SessionParams,
      body: z.unknown().meta({ description: 'A session request, or the state itself' }),
      response: { schema: Session },
      async handle({ params: { sessionId, ...owner }, body }, { reply, caller }) {
        await checkApp(owner.appName);
        const { state, events } = asSessionRequest(body);
        caller.checkSession({ state, events });
        await yieldWhenDue();
        return sendSession(reply, await sessions.createSession(owner, { sessionId, state, ...brought(events) }));
      },
    }),
    operation({
      method: 'PATCH',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Change the state of a session',
      params: SessionParams,
      body: SessionPatch,
      response: { schema: Session },
      async handle({ params, body }, { reply, caller }) {
        caller.checkState(body.stateDelta);
        const session = await found(params, () => sessions.getSession(params, { numRecentEvents: 1 }));
        const actions = { ...newActions(), stateDelta: body.stateDelta };
        await yieldWhenDue();
        await sessions.appendEvent(session, newEvent({ invocationId: `p-${randomUUID()}` }, 'user', { actions }));
        await yieldWhenDue();
        return sendSession(reply, await find(params));
      },
    }),
    operation({
      method: 'DELETE',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Delete a session with its events, artifacts, memories and traces',
      params: SessionParams,
      response: { schema: z.null() },
      async handle({ params }) {
        await runs.deleteSession(params);
        traces.forget(params);
      },
    }),
    operation({
      method: 'GET',
      paths: [`${one}/events`],
      tag,
      feature: 'event-pages',
      access: { role: 'user', user: 'path' },
      summary: 'Read the events of a session page by page, in order or newest first, all or around an event',
      params: SessionParams,
      query: EventsQuery,
      response: { schema: ListEventsResponse },
      async handle({ params, query }, { reply }) {
        const { nextPageToken, ...page } = await sessions.listEvents(params, {
          ...query,
          pageToken: openPageToken(params, query.pageToken),
        });
        const token = nextPageToken === undefined ? {} : { nextPageToken: pageTokenFor(params, nextPageToken) };
        return sendEventPage(reply, { ...page, ...token });
      },
    }),
  ];
}

/** Marks all events that a client imports, whatever author they name: the server never acts on them. */
const brought = (events: SessionRequest['events'] = []) => ({ events, imported: events.length });

const requestKeys = new Set(['state', 'events', 'sessionId', 'session_id']);

/**
 * Most clients send a session request; ADK for Python sends the state itself. A body with any key that a session request
 * does not have is treated as the state.
 */
function asSessionRequest(body: unknown): SessionRequest {
  const isState = isJsonObject(body) && Object.keys(body).some((key) => !requestKeys.has(key));
  return parse(NewSession, isState ? { state: body } : body, 'request body') as SessionRequest;
}
