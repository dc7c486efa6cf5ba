import { freezeJson } from '../../base/json.ts';
import type { Event } from '../../schemas/event.ts';

/** Deep-freezes an event before it is stored. Returns why it cannot become JSON, or `undefined`. */
export function freezeEvent(event: Event): string | undefined {
  shareEmptyMaps(event);
  return freezeJson(event);
}

const empty = Object.freeze({});

/** Replaces empty maps by one shared object: in most events all four are empty, a fifth of a session's memory. Skips frozen events. */
export function shareEmptyMaps({ actions }: Event): void {
  if (Object.isFrozen(actions)) return;
  if (isEmpty(actions.stateDelta)) actions.stateDelta = empty;
  if (isEmpty(actions.artifactDelta)) actions.artifactDelta = empty;
  if (isEmpty(actions.requestedAuthConfigs)) actions.requestedAuthConfigs = empty;
  if (isEmpty(actions.requestedToolConfirmations)) actions.requestedToolConfirmations = empty;
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false;
  return true;
}
