import { isTaskCompleted } from '../../agents/live/task-completed.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';

/**
 * Delays the events of tools while a transcription is incomplete, so that the history reads question, tools, answer.
 * It changes no transcription: when one is complete is decided by the model's connection (`gemini-live-messages.ts`).
 * Urgent events (`isUrgent`) are never delayed, nor are the events before them.
 */
export class ToolEventDelay {
  readonly #held: Event[] = [];
  #isTranscribing = false;

  /** Adds an event. Returns the events to store now, in order. */
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

  /** Returns the delayed events. */
  flush(): Event[] {
    return this.#held.splice(0);
  }
}

/** Whether the event transfers, ends its agent's call, or requests something of the user. */
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
