import type { JsonObject } from '../../base/json.ts';
import type { Part } from '../../schemas/content.ts';

/** Makes a model plan before it acts. */
export interface Planner {
  /** Given to the model as its thinking settings. */
  readonly thinkingConfig?: JsonObject;
  /** Added to the system instruction. */
  readonly instruction?: string;
  /** Sorts the text of an answer into thoughts and what the user sees. One reader for each answer; partials come in order. */
  readAnswer?(): AnswerReader;
}

export interface AnswerReader {
  partial(parts: readonly Part[]): Part[];
  whole(parts: readonly Part[]): Part[];
}

/** Leaves the planning to the model: `thinkingConfig` replaces that of the agent's generateContentConfig. */
export function builtInPlanner(options: { thinkingConfig: JsonObject }): Planner {
  return { thinkingConfig: options.thinkingConfig };
}

const finalAnswer = '/*FINAL_ANSWER*/';
const tags = { plan: '/*PLANNING*/', replan: '/*REPLANNING*/', reason: '/*REASONING*/', act: '/*ACTION*/' };
const thinkingTags = Object.values(tags);

/** Asks any model to plan in the open, in tagged sections, and shows only what follows the final tag as its answer. */
export function planReActPlanner(): Planner {
  return { instruction: planReActText, readAnswer: () => new TaggedAnswer() };
}

const planReActText = [
  'Work in three stages: first write a plan, then carry it out with the tools you have, and only then answer.',
  [
    `Start with ${tags.plan} and a short numbered list of the steps, naming the tools each one needs.`,
    `Write ${tags.act} before you call a tool, and ${tags.reason} before you say what its result means for the next step.`,
    `When the plan turns out wrong, write ${tags.replan} and a better one.`,
    `Write ${finalAnswer} once you can answer, followed by the answer alone.`,
  ].join('\n'),
  'Rest the answer on the context and on what tools returned. Call only tools that exist, with arguments you know. If something essential is missing, ask the user for it in the final answer.',
].join('\n\n');

class TaggedAnswer implements AnswerReader {
  #seen = '';
  #answering = false;

  partial(parts: readonly Part[]): Part[] {
    return parts.map((part) => {
      if (part.text === undefined || part.thought || this.#answering) return part;
      this.#seen += part.text;
      this.#answering = this.#seen.includes(finalAnswer);
      return this.#answering || !startsTagged(this.#seen) ? part : { ...part, thought: true };
    });
  }

  whole(parts: readonly Part[]): Part[] {
    return parts.flatMap((part) => {
      if (part.text === undefined || part.thought) return [part];
      const at = part.text.lastIndexOf(finalAnswer);
      if (at < 0) return [startsTagged(part.text) ? { ...part, thought: true } : part];
      const thought = part.text.slice(0, at);
      const answer = { text: part.text.slice(at + finalAnswer.length).trimStart() };
      return thought.trim() === '' ? [answer] : [{ ...part, text: thought, thought: true }, answer];
    });
  }
}

const startsTagged = (text: string): boolean => {
  const start = text.trimStart();
  return thinkingTags.some((tag) => start.startsWith(tag));
};
