import type { LiveInput } from '../../core/model.ts';
import { type Content, functionResponsesOf } from '../../schemas/content.ts';
import { isInternalResponse } from '../reserved-names.ts';
import type { SharedInput } from './shared-input.ts';

/** Who else hears what the client says. */
interface Ears {
  /** Told of what goes to the model. */
  readonly onSaid: (input: LiveInput) => void;
  /** Told when the client has answered a question that is not the model's. */
  readonly onVerdict: () => void;
}

/** What one connection to a model hears: what the client says, and what tools have found. */
export class Line {
  readonly #client: SharedInput;
  readonly #ears: Ears;
  readonly #found: Content[] = [];
  #isClosed = false;

  constructor(client: SharedInput, ears: Ears) {
    this.#client = client;
    this.#ears = ears;
  }

  /** Ends when the client has nothing more to say, and when the line is closed. */
  async *inputs(): AsyncGenerator<LiveInput, void, void> {
    while (!this.#isClosed) {
      const content = this.#found.shift();
      if (content) {
        yield { kind: 'content', content };
        continue;
      }
      const said = await this.#client.next();
      if (said && isVerdict(said)) this.#ears.onVerdict();
      else if (said) {
        this.#ears.onSaid(said);
        yield said;
      } else if (this.#client.hasEnded) return;
    }
  }

  /** Tells the model something, before what the client says next. */
  send(content: Content): void {
    this.#found.push(content);
    this.#client.interrupt();
  }

  /** What the client says from now on is for somebody else. */
  close(): void {
    this.#isClosed = true;
    this.#client.interrupt();
  }
}

const isVerdict = (input: LiveInput): boolean =>
  input.kind === 'content' && functionResponsesOf(input.content).some(({ name }) => isInternalResponse(name));
