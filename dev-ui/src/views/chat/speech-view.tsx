import type { Speech } from '../../log/event-log.ts';
import { Author } from '../../parts/author.tsx';
import { Markdown } from '../../parts/markdown.tsx';

/** The current speech of an agent. Finished blocks are not parsed again. */
export function SpeechView({ speech: { author, text, thought } }: { readonly speech: Speech }) {
  const end = text.lastIndexOf('\n\n');
  const done = fenceIsOpen(text.slice(0, end)) ? '' : text.slice(0, Math.max(0, end));
  const rest = text.slice(done.length);
  return (
    <article className="item text live" aria-busy="true" aria-label={`${author} is answering`}>
      <Author name={author} />
      {thought !== '' && <p className="thought">{thought}</p>}
      {done !== '' && <Markdown text={done} />}
      <div className="markdown plain-tail">
        {rest}
        <span className="caret" aria-hidden />
      </div>
    </article>
  );
}

const fenceIsOpen = (text: string): boolean => (text.match(/^```/gm)?.length ?? 0) % 2 === 1;
