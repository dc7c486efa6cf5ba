import { isTaskCompleted } from '../../agents/live/task-completed.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';

/**
 * Keeps back what tools do while somebody is still being written down, so that the history reads question, tools, answer.
 * What others have to act on at once is never kept back, nor what came before it.
 */
export class TranscriptOrder {
  readonly #held: Event[] = [];
  #isTranscribing = false;

  /** The events that are due now that this one has come, in their order. */
  add(event: Event): readonly Event[] {
    const isTranscript = event.inputTranscription !== undefined || event.outputTranscription !== undefined;
    if (isTranscript) this.#isTranscribing = event.partial === true;
    if (event.partial) return [event];
    if (isTranscript) return [event, ...this.flush()];
    const isOfTools = functionCalls(event).length > 0 || functionResponses(event).length > 0;
    if (this.#isTranscribing && isOfTools && !isUrgent(event)) {
      this.#held.push(event);
      return [];
    }
    return isOfTools || event.turnComplete || event.interrupted ? [...this.flush(), event] : [event];
  }

  /** What is still kept back. */
  flush(): Event[] {
    return this.#held.splice(0);
  }
}

/** Whether the event hands over, ends its agent's turn, or asks the user. */
function isUrgent(event: Event): boolean {
  const { actions, longRunningToolIds } = event;
  return (
    isTaskCompleted(event) ||
    actions.transferToAgent !== undefined ||
    actions.endOfAgent === true ||
    longRunningToolIds !== undefined ||
    Object.keys(actions.requestedToolConfirmations).length > 0 ||
    Object.keys(actions.requestedAuthConfigs).length > 0
  );
}
