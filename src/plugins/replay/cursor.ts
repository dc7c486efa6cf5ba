import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { Recording } from './cassette.ts';

/** Iterations of the event loop that an agent waits for a parallel agent's recording; that one may never come. */
const maxRounds = 1_000;

/** Hands out the recordings of one user message. Parallel agents may interleave, so the order is kept per agent. */
export class Cursor {
  /** Recordings that no call has taken yet. */
  readonly #available: Recording[];
  /** Recordings whose replay has not finished, in recorded order. */
  readonly #unfinished: Recording[];
  /** Taken in `beforeTool`, by call id. */
  readonly #reserved = new Map<string, Recording>();
  /** Recorded tool responses of agents that run as tools, for their model calls if those were not recorded. */
  readonly #toolResponses = new WeakMap<AbortSignal, string>();

  constructor(recordings: readonly Recording[], index: number) {
    const ofMessage = recordings.filter((recording) => recording.userMessageIndex === index);
    this.#available = ofMessage.filter(({ llmRecording, toolRecording }) =>
      toolRecording ? true : (llmRecording?.llmResponse ?? llmRecording?.llmResponses?.at(0)) !== undefined,
    );
    this.#unfinished = [...this.#available];
  }

  /** The next model call of an agent. */
  model(agentName: string): Recording | undefined {
    return this.#take(({ agentName: name, llmRecording }) => name === agentName && llmRecording !== undefined);
  }

  /** The next call of a tool by an agent, with these arguments if there is one. */
  tool(agentName: string, toolName: string, { id, args }: { id: string; args: JsonObject }): Recording | undefined {
    const known = this.#reserved.get(id);
    if (known) return known;
    const fits = ({ agentName: name, toolRecording }: Recording): boolean =>
      name === agentName && toolRecording?.toolCall.name === toolName;
    const found =
      this.#take((one) => fits(one) && isDeepStrictEqual(one.toolRecording?.toolCall.args ?? {}, args)) ??
      this.#take(fits);
    if (found) this.#reserved.set(id, found);
    return found;
  }

  /** Waits until all earlier recordings are replayed: keeps the recorded order of parallel agents. */
  async waitForTurn(recording: Recording): Promise<void> {
    for (let round = 0; round < maxRounds && this.#unfinished[0] !== recording; round += 1) await setImmediate();
  }

  done(recording: Recording): void {
    const at = this.#unfinished.indexOf(recording);
    if (at >= 0) this.#unfinished.splice(at, 1);
  }

  /** Marks the tool call with this id as replayed. */
  finish(id: string): void {
    const recording = this.#reserved.get(id);
    if (recording) this.done(recording);
    this.#reserved.delete(id);
  }

  /** Sets the text that the agent running as a tool under this signal answers. */
  setToolResponse(signal: AbortSignal, text: string): void {
    this.#toolResponses.set(signal, text);
  }

  toolResponseOf(signal: AbortSignal): string | undefined {
    return this.#toolResponses.get(signal);
  }

  #take(matches: (recording: Recording) => boolean): Recording | undefined {
    const at = this.#available.findIndex(matches);
    return at < 0 ? undefined : this.#available.splice(at, 1)[0];
  }
}
