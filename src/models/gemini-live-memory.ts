import type { LiveInput, ModelResponse } from '../core/model.ts';
import type { Content } from '../schemas/content.ts';

/** Characters of base64 that are said again at most: about half a minute of speech. */
const maxMedia = 1024 * 1024;
const maxTurns = 500;

interface Turn {
  readonly content: Content;
  /** The client's message, when that is what it is. */
  readonly input: LiveInput | undefined;
}

/**
 * What has to be said again when a conversation goes on over another connection: what both said since the provider last
 * gave a handle for it, and what the client said since it last got an answer.
 */
export class LiveMemory {
  readonly #resumes: boolean;
  #handle: string | undefined;
  #turns: Turn[] = [];
  /** What has no answer yet. */
  #open: LiveInput[] = [];
  #mediaSize = 0;
  #isAsked = false;

  /** `false`: handles of the provider are of no use, since resumption is off. */
  constructor(resumption: { readonly handle?: string } | false | undefined) {
    this.#resumes = resumption !== false;
    this.#handle = resumption ? resumption.handle : undefined;
  }

  get handle(): string | undefined {
    return this.#handle;
  }

  /** Whether a message of the client has no answer yet. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  sent(input: LiveInput): void {
    this.#open.push(input);
    if (input.kind === 'content') {
      this.#isAsked = true;
      this.#addTurn(input.content, input);
    }
    if (input.kind === 'blob') this.#mediaSize += input.blob.data.length;
    while (this.#mediaSize > maxMedia) this.#forgetOldestMedia();
  }

  received(response: ModelResponse): void {
    const update = response.liveSessionResumptionUpdate;
    const handle = update?.['newHandle'];
    if (this.#resumes && typeof handle === 'string' && handle !== '' && update?.['resumable'] !== false)
      this.#save(handle);
    if (response.partial) return;
    const { content, inputTranscription, outputTranscription } = response;
    if (content) this.#addTurn(content);
    if (inputTranscription?.text) this.#addTurn({ role: 'user', parts: [{ text: inputTranscription.text }] });
    if (outputTranscription?.text) this.#addTurn({ role: 'model', parts: [{ text: outputTranscription.text }] });
    if (!response.turnComplete) return;
    this.#isAsked = false;
    this.#open = [];
    this.#mediaSize = 0;
  }

  /** What to begin another connection with: what has been said, and what is still to be answered. */
  again(): { history: Content[]; inputs: LiveInput[] } {
    const said = this.#turns.filter(({ input }) => !input || !this.#open.includes(input));
    return { history: said.map(({ content }) => content), inputs: [...this.#open] };
  }

  /** From now on the provider remembers what was said; of a question without an answer that is not certain. */
  #save(handle: string): void {
    this.#handle = handle;
    this.#open = this.#open.filter(({ kind }) => this.#isAsked && kind === 'content');
    this.#turns = this.#turns.filter(({ input }) => input && this.#open.includes(input));
    this.#mediaSize = 0;
  }

  #addTurn({ role = 'user', parts }: Content, input?: LiveInput): void {
    const texts = parts.flatMap(({ text, thought }) => (text && !thought ? [{ text }] : []));
    if (texts.length > 0) this.#turns.push({ content: { role, parts: texts }, input });
    if (this.#turns.length > maxTurns) this.#turns.shift();
  }

  #forgetOldestMedia(): void {
    const at = this.#open.findIndex(({ kind }) => kind === 'blob');
    const [input] = this.#open.splice(at, 1);
    if (input?.kind === 'blob') this.#mediaSize -= input.blob.data.length;
  }
}
