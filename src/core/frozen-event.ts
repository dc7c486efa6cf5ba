import { freezeJson } from '../base/json.ts';
import type { Event } from '../schemas/event.ts';

/** Freezes an event that is to be stored, and all it holds. Returns why it cannot become JSON; `undefined` when it can. */
export function freezeEvent(event: Event): string | undefined {
  shareEmptyMaps(event);
  return freezeJson(event);
}

const empty = Object.freeze({});

/** Most events change nothing: four maps each would be a fifth of what a session weighs. Leaves a frozen event as it is. */
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
