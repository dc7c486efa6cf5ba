import type { LiveInput } from '../../core/model.ts';
import { type Content, functionResponsesOf } from '../../schemas/content.ts';
import { isInternalResponse } from '../reserved-names.ts';
import type { HandoverInput } from './handover-input.ts';

/** Gets a copy of the client's input. */
interface InputListeners {
  /** Called with each input that goes to the model. */
  readonly onClientInput: (input: LiveInput) => void;
  /** Called when the client answers a confirmation or credential request, which the model does not get. */
  readonly onUserResponse: () => void;
}

/** The input of one connection to a model: the client's input, and tool outputs ahead of it. */
export class ModelInput {
  readonly #clientInput: HandoverInput;
  readonly #listeners: InputListeners;
  readonly #toolOutputs: Content[] = [];
  #isClosed = false;

  constructor(client: HandoverInput, listeners: InputListeners) {
    this.#clientInput = client;
    this.#listeners = listeners;
  }

  /** Ends when the client's input ends, or when `close` is called. */
  async *inputs(): AsyncGenerator<LiveInput, void, void> {
    while (!this.#isClosed) {
      const content = this.#toolOutputs.shift();
      if (content) {
        yield { kind: 'content', content };
        continue;
      }
      const input = await this.#clientInput.next();
      if (input && isUserResponse(input)) this.#listeners.onUserResponse();
      else if (input) {
        this.#listeners.onClientInput(input);
        yield input;
      } else if (this.#clientInput.hasEnded) return;
    }
  }

  /** Sends a tool output to the model, ahead of the client's next input. */
  send(content: Content): void {
    this.#toolOutputs.push(content);
    this.#clientInput.interrupt();
  }

  /** Stops reading the client's input; the next agent reads the rest. */
  close(): void {
    this.#isClosed = true;
    this.#clientInput.interrupt();
  }
}

const isUserResponse = (input: LiveInput): boolean =>
  input.kind === 'content' && functionResponsesOf(input.content).some(({ name }) => isInternalResponse(name));
