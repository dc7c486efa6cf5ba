import { styleText } from 'node:util';
import type { Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';

const usualWidth = 400;
/** Control characters other than line ends and tabs: output of models and tools must not control the terminal. */
// oxlint-disable-next-line no-control-regex
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** Calls that the runtime makes to ask the user. They are shown as prompts instead. */
const internalCall = /^adk_request_(?:confirmation|credential|input)$/;

/** Prints the events of a conversation as they arrive: streamed text, and one line for each call and result. */
export class ChatScreen {
  readonly #output: NodeJS.WriteStream;
  /** The author of the unfinished line. */
  #speaker: string | undefined;
  /** Authors whose current response was printed in chunks. */
  readonly #streamed = new Set<string>();
  #failed = false;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** Finishes the output of a turn. Returns whether one of its events was an error. */
  endTurn(): boolean {
    this.endLine();
    this.#streamed.clear();
    const failed = this.#failed;
    this.#failed = false;
    return failed;
  }

  show(event: Event): void {
    const { author, partial = false, content, errorCode, errorMessage, actions } = event;
    if (author === 'user') return;
    for (const part of content?.parts ?? []) {
      if (part.text !== undefined) {
        if (partial) this.#streamed.add(author);
        if (partial || !this.#streamed.has(author)) this.#say(author, part.text, part.thought === true);
      } else if (!partial) {
        this.#showPart(part);
      }
    }
    if (partial) return;
    this.#streamed.delete(author);
    this.endLine();
    for (const [name, version] of Object.entries(actions.artifactDelta)) {
      this.#line(`   saved "${name}", version ${String(version)}`);
    }
    if (errorCode !== undefined) this.fail(`${errorCode}: ${errorMessage ?? 'no message'}`);
  }

  /** Prints a note of the program itself. */
  note(text: string): void {
    this.endLine();
    this.#output.write(`${this.#style('dim', clean(text))}\n`);
  }

  /** Prints a question to the user. */
  question(text: string): void {
    this.endLine();
    this.#output.write(`${this.#style('yellow', clean(text))}\n`);
  }

  /** Prints an error. */
  fail(text: string): void {
    this.#failed = true;
    this.endLine();
    this.#output.write(`${this.#style('red', clean(`! ${text}`))}\n`);
  }

  endLine(): void {
    if (this.#speaker === undefined) return;
    this.#speaker = undefined;
    this.#output.write('\n');
  }

  #say(author: string, text: string, isThought: boolean): void {
    const speaker = isThought ? `${author} (thinking)` : author;
    if (text === '') return;
    if (this.#speaker !== speaker) {
      this.endLine();
      this.#output.write(`${this.#style('bold', clean(`${speaker}>`))} `);
      this.#speaker = speaker;
    }
    this.#output.write(isThought ? this.#style('dim', clean(text)) : clean(text));
  }

  #showPart({ functionCall, functionResponse, executableCode, codeExecutionResult, inlineData, fileData }: Part): void {
    if (functionCall && !internalCall.test(functionCall.name)) {
      this.#line(`   -> ${functionCall.name} ${oneLine(functionCall.args ?? {})}`);
    }
    if (functionResponse && !internalCall.test(functionResponse.name)) {
      this.#line(`   <- ${functionResponse.name} ${oneLine(functionResponse.response)}`);
    }
    if (executableCode) this.#line(`   -> code ${oneLine(executableCode.code)}`);
    if (codeExecutionResult) this.#line(`   <- code ${oneLine(codeExecutionResult.output ?? '')}`);
    if (inlineData) this.#line(`   [${inlineData.mimeType}, ${Math.floor((inlineData.data.length * 3) / 4)} bytes]`);
    if (fileData) this.#line(`   [${fileData.fileUri}]`);
  }

  #line(text: string): void {
    this.endLine();
    const width = Math.max(40, (this.#output.columns ?? usualWidth) - 1);
    const shown = clean(text).replaceAll(/[\n\t]/g, ' ');
    this.#output.write(`${this.#style('cyan', shown.length > width ? `${shown.slice(0, width - 2)} …` : shown)}\n`);
  }

  #style(format: Parameters<typeof styleText>[0], text: string): string {
    return styleText(format, text, { stream: this.#output });
  }
}

const oneLine = (value: unknown): string => JSON.stringify(value) ?? '';

const clean = (text: string): string => text.replaceAll(steering, '');
