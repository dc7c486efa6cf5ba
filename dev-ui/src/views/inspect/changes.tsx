import type { Event } from '../../../../src/schemas/event.ts';
import { tokensOf } from '../../log/turns.ts';
import { Diff } from '../../parts/diff.tsx';
import { shownCount } from '../../parts/numbers.ts';
import { type LlmRequest, partsOf } from './llm-request.ts';
import { Section } from './section.tsx';

interface Call {
  readonly event: Event;
  readonly request: LlmRequest;
}

const text = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** The differences between two model calls, part by part, and their effect on the prompt cache. */
export function Changes({ before, after }: { readonly before: Call; readonly after: Call }) {
  const old = partsOf(before.request);
  const now = partsOf(after.request);
  const gained = (tokensOf(after.event)?.input ?? 0) - (tokensOf(before.event)?.input ?? 0);
  const kept = now.messages.findIndex((message, index) => text(message) !== text(old.messages[index]));
  const common = kept < 0 ? Math.min(now.messages.length, old.messages.length) : kept;
  const isPrefix = common === old.messages.length && old.system === now.system && text(old.tools) === text(now.tools);
  const pairs = [
    { title: 'System', was: old.system, is: now.system },
    { title: 'Messages', was: text(old.messages.slice(common)), is: text(now.messages.slice(common)) },
    { title: 'Tools', was: text(old.tools), is: text(now.tools) },
    { title: 'Config', was: text({ model: old.model, ...old.config }), is: text({ model: now.model, ...now.config }) },
  ];
  return (
    <div className="stack">
      <p className="secondary">
        {gained >= 0 ? '+' : '−'}
        {shownCount(Math.abs(gained))} input tokens. The first {common} {common === 1 ? 'message is' : 'messages are'}{' '}
        the same.{' '}
        {isPrefix
          ? 'This request begins like the previous one: the prompt cache can be used.'
          : 'This request begins differently: the prompt cache is used only up to the first difference.'}
      </p>
      {pairs.map(({ title, was, is }) => (
        <Section key={title} title={title} note={was === is ? 'the same' : 'changed'} open={was !== is}>
          <Diff before={was} after={is} label={`Changes in ${title}`} />
        </Section>
      ))}
    </div>
  );
}
