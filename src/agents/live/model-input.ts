import type { LiveInput } from '../../core/model.ts';
import { type Content, functionResponsesOf } from '../../schemas/content.ts';
import { isInternalResponse } from '../reserved-names.ts';
import type { HandoverInput } from './handover-input.ts';

/** Who else hears what the client says. */
interface InputListeners {
  /** Told of what goes to the model. */
  readonly onClientInput: (input: LiveInput) => void;
  /** Told when the client has answered a question that is not the model's. */
  readonly onUserResponse: () => void;
}

/** What one connection to a model hears: what the client says, and what tools have found. */
export class ModelInput {
  readonly #clientInput: HandoverInput;
  readonly #listeners: InputListeners;
  readonly #toolOutputs: Content[] = [];
  #isClosed = false;

  constructor(client: HandoverInput, listeners: InputListeners) {
    this.#clientInput = client;
    this.#listeners = listeners;
  }

  /** Ends when the client has nothing more to say, and when the line is closed. */
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

  /** Tells the model something, before what the client says next. */
  send(content: Content): void {
    this.#toolOutputs.push(content);
    this.#clientInput.interrupt();
  }

  /** What the client says from now on is for somebody else. */
  close(): void {
    this.#isClosed = true;
    this.#clientInput.interrupt();
  }
}

const isUserResponse = (input: LiveInput): boolean =>
  input.kind === 'content' && functionResponsesOf(input.content).some(({ name }) => isInternalResponse(name));
