import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { Recording } from './cassette.ts';

/** Rounds of the event loop that an agent waits for one beside it, which may never come. */
const patience = 1_000;

/** Walks the recordings of one user message; agents may interleave, so each agent's recordings are taken in their order. */
export class Cursor {
  /** Not taken yet. */
  readonly #left: Recording[];
  /** Not done yet. */
  readonly #ahead: Recording[];
  /** Taken when its call was announced, by call id. */
  readonly #reserved = new Map<string, Recording>();
  /** What the recording says an agent answered as a tool, for its model calls when they were not recorded. */
  readonly #toldByTool = new WeakMap<AbortSignal, string>();

  constructor(recordings: readonly Recording[], index: number) {
    const ofMessage = recordings.filter((recording) => recording.userMessageIndex === index);
    this.#left = ofMessage.filter(({ llmRecording, toolRecording }) =>
      toolRecording ? true : (llmRecording?.llmResponse ?? llmRecording?.llmResponses?.at(0)) !== undefined,
    );
    this.#ahead = [...this.#left];
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

  /** Waits until what was recorded before is done: for agents that run side by side. */
  async turnOf(recording: Recording): Promise<void> {
    for (let round = 0; round < patience && this.#ahead[0] !== recording; round += 1) await setImmediate();
  }

  done(recording: Recording): void {
    const at = this.#ahead.indexOf(recording);
    if (at >= 0) this.#ahead.splice(at, 1);
  }

  /** The call with this id is answered. */
  finish(id: string): void {
    const recording = this.#reserved.get(id);
    if (recording) this.done(recording);
    this.#reserved.delete(id);
  }

  /** Lets the agent that runs as a tool under this signal say what its tool response says. */
  lend(signal: AbortSignal, text: string): void {
    this.#toldByTool.set(signal, text);
  }

  lentTo(signal: AbortSignal): string | undefined {
    return this.#toldByTool.get(signal);
  }

  #take(matches: (recording: Recording) => boolean): Recording | undefined {
    const at = this.#left.findIndex(matches);
    return at < 0 ? undefined : this.#left.splice(at, 1)[0];
  }
}
