import type { Content } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { effectiveEvents, isEdit } from './edited-history.ts';
import { groupCalls } from './grouping.ts';
import { narrate } from './narration.ts';
import { type ForeignCall, pairedUpTo, pairResponses } from './pairing.ts';
import { isOnBranch, kindOf } from './visibility.ts';

/** The agent and branch that the history is built for. */
export interface View {
  readonly agent: string;
  readonly branch: string | undefined;
  /** Only what came since the user, or another agent, last spoke. */
  readonly currentTurnOnly: boolean;
  /** All calls of a turn before all its responses. */
  readonly callsFirst?: boolean;
}

/**
 * The history as an agent's model sees it: what is visible on its branch, other agents' turns as narration, every call
 * followed by its response. The contents are those of the stored events, not copies. Throws FunctionCallNotFound when
 * the newest event answers a call that is not there.
 */
export function buildContents(events: readonly Event[], view: View): Content[] {
  const contents = pairedContents(events, view);
  return view.callsFirst ? groupCalls(contents) : contents;
}

function pairedContents(events: readonly Event[], view: View): Content[] {
  const { contents, hasTools, edited, paired } = view.currentTurnOnly
    ? currentTurn(events, view)
    : history(events, view);
  if (edited) return pairedContents(effectiveEvents(events, view.agent), view);
  if (!hasTools || paired === contents.length) return contents;
  return pairResponses(contents, (id) => foreignCall(events, view, id));
}

/** The contents collected from a history. */
interface Collected {
  readonly contents: Content[];
  /** Whether there are calls or responses among them. */
  hasTools: boolean;
  /** How many contents from the start are calls with their responses right behind, or neither. */
  paired: number;
  /** Whether a compaction or rewind was found: the contents are then built from the edited history. */
  edited: boolean;
}

const emptyCollection = (): Collected => ({ contents: [], hasTools: false, paired: 0, edited: false });

/** A view of a history up to an event. It never changes, since histories only grow, so the next step goes on from it. */
interface Prefix extends Collected {
  last: Event | undefined;
  count: number;
}

/** Shorter histories are read faster than remembered. */
const shortHistory = 64;
/** Agents and branches whose views of one history are remembered. */
const maxViews = 16;
const views = new WeakMap<Event, Map<string, Prefix>>();

function history(events: readonly Event[], view: View): Collected {
  const [first] = events;
  if (first === undefined || events.length < shortHistory) return collect(emptyCollection(), events, view, 0);
  let byView = views.get(first);
  if (!byView) views.set(first, (byView = new Map()));
  const key = view.branch === undefined ? view.agent : `${view.agent} ${view.branch}`;
  let prefix = byView.get(key);
  if (!prefix || events[prefix.count - 1] !== prefix.last) {
    const [oldest] = byView.keys();
    if (byView.size >= maxViews && oldest !== undefined) byView.delete(oldest);
    byView.set(key, (prefix = { ...emptyCollection(), last: undefined, count: 0 }));
  }
  collect(prefix, events, view, prefix.count);
  if (prefix.edited) byView.delete(key);
  prefix.count = events.length;
  prefix.last = events.at(-1);
  return { ...prefix, contents: prefix.contents.slice() };
}

/** Adds what is visible of the events to what was found before. Runs over whole histories: nothing is allocated per event. */
function collect(found: Collected, events: readonly Event[], view: View, from: number): Collected {
  const { contents } = found;
  for (let index = from; index < events.length; index += 1) {
    let event = events[index] as Event;
    if (event.content === undefined) {
      if (isEdit(event)) {
        found.edited = true;
        break;
      }
      event = withTranscript(event);
    }
    const { content } = event;
    if (content === undefined) continue;
    if (!isOnBranch(event.branch, view.branch)) continue;
    const kind = kindOf(content);
    if (kind === 'invisible' || kind === 'internal') continue;
    if (event.author !== 'user' && event.author !== view.agent) {
      const narration = narrate(event);
      if (narration) contents.push(narration);
      continue;
    }
    if (kind === 'tools') found.hasTools = true;
    contents.push(content);
  }
  if (found.hasTools) found.paired = pairedUpTo(contents, found.paired);
  return found;
}

/** What came since the user or another agent last spoke, preceded by the calls that it answers. */
function currentTurn(events: readonly Event[], view: View): Collected {
  const found = collect(emptyCollection(), events, view, turnStart(events, view));
  if (!found.hasTools || found.paired === found.contents.length) return found;
  const open = new Set<string | undefined>();
  for (const { parts } of found.contents) {
    for (const { functionResponse } of parts) if (functionResponse) open.add(functionResponse.id);
  }
  for (const { parts } of found.contents) for (const { functionCall } of parts) open.delete(functionCall?.id);
  const from = events.findLastIndex(
    ({ author, content }) =>
      author === view.agent && content?.parts.some(({ functionCall }) => functionCall && open.has(functionCall.id)),
  );
  return from < 0 ? found : collect(emptyCollection(), events, view, from);
}

/** The index of the newest event by the user or by another agent: where the current turn of this agent begins. */
function turnStart(events: readonly Event[], view: View): number {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index] as Event;
    if (event.content === undefined || event.author === view.agent || !isOnBranch(event.branch, view.branch)) continue;
    const kind = kindOf(event.content);
    if (kind === 'plain' || kind === 'tools') return index;
  }
  return 0;
}

/** Where a call of another agent is: `seen` on this branch, `hidden` on another one, or `undefined`. */
function foreignCall(events: readonly Event[], view: View, id: string): ForeignCall {
  let found: ForeignCall;
  for (const event of events) {
    if (!(event.content?.parts ?? []).some(({ functionCall }) => functionCall?.id === id)) continue;
    if (!isOnBranch(event.branch, view.branch)) found ??= 'hidden';
    else if (event.author !== view.agent) return 'seen';
  }
  return found;
}

const written = new WeakMap<Event, Event>();

/** The event with its transcript as content; the event itself when it has none. Cached for stored events. */
function withTranscript(event: Event): Event {
  const { inputTranscription, outputTranscription } = event;
  const text = inputTranscription?.text ?? outputTranscription?.text;
  if (!text) return event;
  const known = written.get(event);
  if (known) return known;
  const role = inputTranscription?.text ? 'user' : 'model';
  const made = { ...event, content: { role, parts: [{ text }] } };
  if (Object.isFrozen(event)) written.set(event, made);
  return made;
}
