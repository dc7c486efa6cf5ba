import type { Event } from '../../../../src/schemas/event.ts';
import { isFailure } from '../../log/rows.ts';
import { tokensOf } from '../../log/turns.ts';
import { shownCount, shownDuration } from '../../parts/numbers.ts';

export type FindingKind = 'repeat' | 'circle' | 'unused' | 'full' | 'slow' | 'dear' | 'failed';

/** A finding and its events. */
export interface Finding {
  readonly kind: FindingKind;
  readonly title: string;
  readonly detail: string;
  /** A click selects the first one. */
  readonly events: readonly Event[];
}

/** From this share of a model's context window on, responses get worse and calls fail. */
const fullFrom = 0.8;
/** Faster events are not reported. */
const slowFromMs = 1_000;
/** Model calls with fewer tokens are not reported. */
const dearFrom = 5_000;
const leastRepeats = 2;
const mostOfAKind = 20;

/** Finds loops and waste in a history. The analysis runs in the browser. */
export function findingsIn(events: readonly Event[]): Finding[] {
  return [
    ...repeats(events),
    ...circles(events),
    ...failures(events),
    ...unusedResults(events),
    ...fullWindows(events),
    ...slowest(events),
    ...dearest(events),
  ];
}

/** The same tool with the same arguments, more than once in a turn. */
function repeats(events: readonly Event[]): Finding[] {
  const calls = new Map<string, { name: string; events: Event[] }>();
  for (const event of events) {
    for (const { functionCall: call } of event.content?.parts ?? []) {
      if (!call || call.name === 'transfer_to_agent') continue;
      const key = JSON.stringify([event.invocationId, call.name, call.args ?? {}]);
      const known = calls.get(key);
      if (known) known.events.push(event);
      else calls.set(key, { name: call.name, events: [event] });
    }
  }
  return [...calls.values()]
    .filter((call) => call.events.length >= leastRepeats)
    .toSorted((a, b) => b.events.length - a.events.length)
    .slice(0, mostOfAKind)
    .map(({ name, events: same }) => ({
      kind: 'repeat',
      title: `${name} was called ${same.length} times with the same arguments`,
      detail: 'In one turn. One call may be enough.',
      events: same,
    }));
}

/** Transfers between the same agents, again and again, in one turn. */
function circles(events: readonly Event[]): Finding[] {
  const byTurn = new Map<string, Event[]>();
  for (const event of events) {
    if (event.actions.transferToAgent === undefined) continue;
    const transfers = byTurn.get(event.invocationId);
    if (transfers) transfers.push(event);
    else byTurn.set(event.invocationId, [event]);
  }
  return [...byTurn.values()].flatMap((transfers): Finding[] => {
    const counts = new Map<string, Event[]>();
    for (const event of transfers) {
      const way = `${event.author} → ${event.actions.transferToAgent}`;
      counts.set(way, [...(counts.get(way) ?? []), event]);
    }
    const again = [...counts].filter(([, same]) => same.length >= leastRepeats);
    if (again.length === 0) return [];
    return [
      {
        kind: 'circle',
        title: `Transfers in circles: ${again.map(([way, same]) => `${way} ${same.length} times`).join(', ')}`,
        detail: `${transfers.length} transfers in one turn.`,
        events: again.flatMap(([, same]) => same),
      },
    ];
  });
}

function failures(events: readonly Event[]): Finding[] {
  const failed = events.filter(
    (event) =>
      event.errorCode !== undefined ||
      event.errorMessage !== undefined ||
      (event.content?.parts ?? []).some(({ functionResponse }) => functionResponse && isFailure(functionResponse)),
  );
  if (failed.length === 0) return [];
  return [
    {
      kind: 'failed',
      title: `${failed.length} ${failed.length === 1 ? 'event reports' : 'events report'} an error`,
      detail: 'Model calls and tool calls that failed.',
      events: failed,
    },
  ];
}

/** Results whose values no later event of the turn mentions. A guess, and labelled as one. */
function unusedResults(events: readonly Event[]): Finding[] {
  const laterWords = new Map<string, string>();
  const found: Finding[] = [];
  for (const event of events.toReversed()) {
    const later = laterWords.get(event.invocationId) ?? '';
    let words = '';
    for (const part of event.content?.parts ?? []) {
      if (part.functionResponse && later !== '' && found.length < mostOfAKind) {
        const { name, response } = part.functionResponse;
        const values = valuesIn(response);
        if (values.length > 0 && !isFailure(part.functionResponse) && !values.some((value) => later.includes(value))) {
          found.push({
            kind: 'unused',
            title: `The result of ${name} may not have been used`,
            detail: 'No later event of the turn mentions any of its values.',
            events: [event],
          });
        }
      }
      if (event.author !== 'user') words += ` ${part.text ?? ''} ${JSON.stringify(part.functionCall?.args ?? '')}`;
    }
    if (words !== '' && later.length < mostWords) {
      laterWords.set(event.invocationId, `${later} ${words.toLowerCase()}`);
    }
  }
  return found.toReversed();
}

const mostWords = 200_000;
const leastLetters = 3;
const mostValues = 200;

/** Texts and numbers somewhere in a result that are long enough to be recognised. */
function valuesIn(value: unknown, found: string[] = []): string[] {
  if (found.length >= mostValues) return found;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim().toLowerCase();
    if (text.length >= leastLetters)
      found.push(...text.split(/[^\p{L}\p{N}.:-]+/u).filter((word) => word.length >= leastLetters));
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) valuesIn(inner, found);
  }
  return found;
}

function fullWindows(events: readonly Event[]): Finding[] {
  const full = events.filter((event) => {
    const window = windowOf(event.modelVersion ?? '');
    return window !== undefined && (tokensOf(event)?.input ?? 0) >= window * fullFrom;
  });
  const [first] = full;
  if (!first) return [];
  const window = windowOf(first.modelVersion ?? '') ?? 0;
  return [
    {
      kind: 'full',
      title: `${first.modelVersion} received ${shownCount(tokensOf(first)?.input ?? 0)} tokens: its context window is nearly full`,
      detail: `The window has ${shownCount(window)}. ${full.length} ${full.length === 1 ? 'call is' : 'calls are'} above 80 %.`,
      events: full,
    },
  ];
}

function slowest(events: readonly Event[]): Finding[] {
  let worst: { event: Event; ms: number } | undefined;
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (event.author === 'user' || before?.invocationId !== event.invocationId) continue;
    const ms = (event.timestamp - before.timestamp) * 1_000;
    if (ms >= slowFromMs && ms > (worst?.ms ?? 0)) worst = { event, ms };
  }
  if (!worst) return [];
  return [
    {
      kind: 'slow',
      title: `The slowest event took ${shownDuration(worst.ms)}`,
      detail: `${worst.event.author}. The trace shows what it waited for.`,
      events: [worst.event],
    },
  ];
}

function dearest(events: readonly Event[]): Finding[] {
  let worst: Event | undefined;
  let calls = 0;
  let sum = 0;
  for (const event of events) {
    const total = tokensOf(event)?.total;
    if (total === undefined) continue;
    calls += 1;
    sum += total;
    if (total > (worst ? (tokensOf(worst)?.total ?? 0) : 0)) worst = event;
  }
  const most = worst && tokensOf(worst);
  if (!worst || !most || calls < 2 || most.total < dearFrom) return [];
  return [
    {
      kind: 'dear',
      title: `The largest model call used ${shownCount(most.total)} tokens`,
      detail: `Of ${shownCount(sum)} in ${calls} calls: ${Math.round((most.total / Math.max(sum, 1)) * 100)} %.`,
      events: [worst],
    },
  ];
}

/** Context windows in tokens by the prefix of the model name, as the providers state. Other models are not checked. */
const windows: Readonly<Record<string, number>> = {
  'gemini-': 1_048_576,
  'gemini-1.5-pro': 2_097_152,
  'claude-': 200_000,
  'gpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
};

function windowOf(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const [best] = Object.entries(windows)
    .filter(([prefix]) => name.startsWith(prefix))
    .toSorted(([a], [b]) => b.length - a.length);
  return best?.[1];
}
