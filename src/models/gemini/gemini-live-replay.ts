import type { LiveInput, ModelResponse } from '../../core/model.ts';
import type { Content } from '../../schemas/content.ts';

/** Characters of base64 that are sent again at most: about half a minute of speech. */
const maxMedia = 1024 * 1024;
const maxTurns = 500;

interface ReplayedTurn {
  readonly content: Content;
  /** The client's message, if the turn is one. */
  readonly input: LiveInput | undefined;
}

/**
 * What to send again when a conversation continues over a new connection: both sides' texts since the provider's last
 * resumption handle, and the client's inputs that have no answer yet.
 */
export class ReplayBuffer {
  readonly #isResumable: boolean;
  #handle: string | undefined;
  #turns: ReplayedTurn[] = [];
  /** Inputs without an answer yet. */
  #unanswered: LiveInput[] = [];
  #mediaSize = 0;
  #isAnswerDue = false;

  /** `false`: resumption is off, so the provider's handles are ignored. */
  constructor(resumption: { readonly handle?: string } | false | undefined) {
    this.#isResumable = resumption !== false;
    this.#handle = resumption ? resumption.handle : undefined;
  }

  get handle(): string | undefined {
    return this.#handle;
  }

  /** Whether a message of the client has no answer yet. */
  get isAnswerDue(): boolean {
    return this.#isAnswerDue;
  }

  sent(input: LiveInput): void {
    this.#unanswered.push(input);
    if (input.kind === 'content') {
      this.#isAnswerDue = true;
      this.#addTurn(input.content, input);
    }
    if (input.kind === 'blob') this.#mediaSize += input.blob.data.length;
    while (this.#mediaSize > maxMedia) this.#forgetOldestMedia();
  }

  received(response: ModelResponse): void {
    const update = response.liveSessionResumptionUpdate;
    const handle = update?.['newHandle'];
    if (this.#isResumable && typeof handle === 'string' && handle !== '' && update?.['resumable'] !== false)
      this.#saveHandle(handle);
    if (response.partial) return;
    const { content, inputTranscription, outputTranscription } = response;
    if (content) this.#addTurn(content);
    if (inputTranscription?.text) this.#addTurn({ role: 'user', parts: [{ text: inputTranscription.text }] });
    if (outputTranscription?.text) this.#addTurn({ role: 'model', parts: [{ text: outputTranscription.text }] });
    if (!response.turnComplete) return;
    this.#isAnswerDue = false;
    this.#unanswered = [];
    this.#mediaSize = 0;
  }

  /** What a new connection starts with: the history, and the inputs without an answer. */
  replay(): { history: Content[]; inputs: LiveInput[] } {
    const answered = this.#turns.filter(({ input }) => !input || !this.#unanswered.includes(input));
    return { history: answered.map(({ content }) => content), inputs: [...this.#unanswered] };
  }

  /** The provider has stored the conversation up to this handle. Unanswered messages may be missing there and stay. */
  #saveHandle(handle: string): void {
    this.#handle = handle;
    this.#unanswered = this.#unanswered.filter(({ kind }) => this.#isAnswerDue && kind === 'content');
    this.#turns = this.#turns.filter(({ input }) => input && this.#unanswered.includes(input));
    this.#mediaSize = 0;
  }

  #addTurn({ role = 'user', parts }: Content, input?: LiveInput): void {
    const texts = parts.flatMap(({ text, thought }) => (text && !thought ? [{ text }] : []));
    if (texts.length > 0) this.#turns.push({ content: { role, parts: texts }, input });
    if (this.#turns.length > maxTurns) this.#turns.shift();
  }

  #forgetOldestMedia(): void {
    const at = this.#unanswered.findIndex(({ kind }) => kind === 'blob');
    const [input] = this.#unanswered.splice(at, 1);
    if (input?.kind === 'blob') this.#mediaSize -= input.blob.data.length;
  }
}
