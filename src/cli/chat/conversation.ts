import { stdin, stdout } from 'node:process';
import type { Engine } from '../../app/engine.ts';
import { AppError, describeError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { withCallIds } from '../../core/events/call-answers.ts';
import { type Content, type Part, textContent, textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { type LineSource, lineSource } from '../line-source.ts';
import { pendingPrompts } from './chat-prompts.ts';
import { ChatScreen } from './chat-screen.ts';
import type { ReplayScript } from './replay-script.ts';

export interface ConversationOptions {
  readonly engine: Pick<Engine, 'runner' | 'services'>;
  readonly key: SessionKey;
  /** Folder of the cassette that replaces the models. */
  readonly replayDir?: string | undefined;
}

/** The exit code after an interrupt, as shells define it. */
const interrupted = 130;

/** One conversation in the terminal. Ctrl-C cancels the active run; a second one exits. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #screen = new ChatScreen(stdout);
  readonly #lines: LineSource;
  readonly #leaving = new AbortController();
  readonly #onSignal = (): void => this.#interrupt();
  #turn: AbortController | undefined;
  #turns = 0;
  #failed = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#lines = lineSource({ input: stdin, output: stdout }, () => this.#interrupt());
    process.on('SIGINT', this.#onSignal);
    // The reader of a pipe may have closed it: continuing would be useless.
    stdout.on('error', () => process.exit(this.#failed ? 1 : 0));
  }

  /** Whether input and output are a terminal. */
  get isTerminal(): boolean {
    return this.#lines.isTerminal;
  }

  note(text: string): void {
    this.#screen.note(text);
  }

  /** Chats until the user exits. Returns the exit code. */
  async talk(): Promise<number> {
    if (!(await this.#answerQuestions())) return this.#exitCode();
    for (;;) {
      const line = await this.#lines.ask('you> ', this.#leaving.signal);
      if (line === undefined) break;
      if (line.trim() === '') continue;
      if (!(await this.#say(textContent('user', line)))) break;
    }
    // At a terminal the user has seen the errors; exiting is not one.
    return this.#lines.isTerminal ? 0 : this.#exitCode();
  }

  /** Sends one message, and the answers to the questions that follow. Returns the exit code. */
  async sayOnce(text: string): Promise<number> {
    await this.#say(textContent('user', text));
    return this.#exitCode();
  }

  /** Sends the user messages of a recorded conversation. Returns the exit code. */
  async play({ messages }: ReplayScript): Promise<number> {
    for (const { content, stateDelta } of messages) {
      if (this.#leaving.signal.aborted || this.#failed) break;
      this.#screen.note(`you> ${textOf(content) || JSON.stringify(content.parts)}`);
      await this.#run(withCallIds(content, await this.#events()), stateDelta);
    }
    return this.#exitCode();
  }

  close(): void {
    process.off('SIGINT', this.#onSignal);
    this.#lines.close();
  }

  #exitCode(): number {
    if (this.#leaving.signal.aborted) return interrupted;
    return this.#failed ? 1 : 0;
  }

  /** False when the conversation is over. */
  async #say(message: Content): Promise<boolean> {
    await this.#run(message, {});
    return !this.#leaving.signal.aborted && (await this.#answerQuestions());
  }

  /** Asks the user all open questions until there are none. Returns false if one stays unanswered. */
  async #answerQuestions(): Promise<boolean> {
    for (;;) {
      const questions = pendingPrompts(await this.#events());
      if (questions.length === 0) return true;
      const parts: Part[] = [];
      for (const question of questions) {
        this.#screen.question(question.text);
        const line = await this.#lines.ask(question.prompt, this.#leaving.signal);
        if (line === undefined) {
          if (!this.#lines.isTerminal) this.#fail('The input ended before the question was answered');
          return false;
        }
        parts.push(question.answer(line));
      }
      await this.#run({ role: 'user', parts }, {});
      if (this.#leaving.signal.aborted) return false;
    }
  }

  async #run(newMessage: Content, stateDelta: JsonObject): Promise<void> {
    const { engine, key, replayDir } = this.#options;
    const turn = new AbortController();
    this.#turn = turn;
    const replay = replayDir === undefined ? {} : { _adk_replay_config: this.#replayConfig(replayDir) };
    this.#turns += 1;
    let last: Event | undefined;
    try {
      const request = { ...key, newMessage, streaming: true, stateDelta: { ...stateDelta, ...replay } };
      for await (const event of await engine.runner.start(request, turn.signal)) {
        if (turn.signal.aborted) continue;
        this.#screen.show(event);
        last = event;
      }
    } catch (error) {
      const words = inWords(error);
      const isTold = words === `${last?.errorCode}: ${last?.errorMessage}`; // by the event that ended the run
      if (!turn.signal.aborted && !isTold) this.#fail(words);
    } finally {
      this.#turn = undefined;
      if (this.#screen.endTurn()) this.#failed = true;
    }
    if (!turn.signal.aborted) return;
    this.#screen.note('(cancelled)');
    // Without a terminal there is no further input.
    if (!this.#lines.isTerminal) this.#leaving.abort();
  }

  #replayConfig(dir: string): JsonObject {
    return { dir, user_message_index: this.#turns, streaming_mode: 'sse' };
  }

  #fail(text: string): void {
    this.#failed = true;
    this.#screen.fail(text);
  }

  #interrupt(): void {
    if (this.#turn?.signal.aborted || this.#leaving.signal.aborted) process.exit(interrupted);
    if (this.#turn) this.#turn.abort(new AppError('run_cancelled', 'The user cancelled the run'));
    else this.#leaving.abort();
  }

  async #events(): Promise<readonly Event[]> {
    const session = await this.#options.engine.services.sessions.getSession(this.#options.key);
    return session?.events ?? [];
  }
}

/** The error in full: the user at the terminal owns the agent. */
function inWords(error: unknown): string {
  return error instanceof AppError ? `${describeError(error).code}: ${errorText(error)}` : errorText(error);
}
