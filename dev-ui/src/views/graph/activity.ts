import type { EventLog } from '../../log/event-log.ts';

/** The activity of the agents in one turn, up to an event. */
export interface Activity {
  /** Names of agents with events, in order of their first event. */
  readonly agents: readonly string[];
  /** The author of the last event. */
  readonly current: string | undefined;
  /** The tools each agent called. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
}

/** Visits the turn of the event at a position (default: the last event), up to that event. */
export function activityOf({ events, turns }: EventLog, position: number | undefined): Activity {
  const last = position ?? events.length - 1;
  const turn = turns.get(events[last]?.invocationId ?? '');
  const agents = new Set<string>();
  const tools = new Map<string, Set<string>>();
  let current: string | undefined;
  for (const event of turn ? events.slice(turn.first, last + 1) : []) {
    if (event.invocationId !== turn?.invocationId || event.author === 'user') continue;
    agents.add(event.author);
    current = event.author;
    for (const { functionCall } of event.content?.parts ?? []) {
      if (!functionCall || functionCall.name === 'transfer_to_agent') continue;
      const called = tools.get(event.author) ?? new Set();
      tools.set(event.author, called.add(functionCall.name));
    }
    const target = event.actions.transferToAgent;
    if (target !== undefined) {
      agents.add(target);
      current = target;
    }
  }
  return { agents: [...agents], current, tools: new Map([...tools].map(([name, called]) => [name, [...called]])) };
}
