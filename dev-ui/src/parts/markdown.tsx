import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { memo, type MouseEvent, useEffect, useRef } from 'react';
import { copyText } from './clipboard.ts';

const marked = new Marked({ gfm: true, breaks: true });
const purify = DOMPurify(window);

/** Whether an address is data in the page itself: any other would send a request to another server. */
const isOwn = (address: string): boolean => /^(?:data:image\/(?!svg)|blob:)/i.test(address);

purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  if (node.nodeName === 'IMG' && !isOwn(node.getAttribute('src') ?? '')) {
    const link = document.createElement('a');
    link.href = node.getAttribute('src') ?? '';
    link.textContent = `Image not loaded: ${node.getAttribute('alt') || link.href}`;
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow';
    node.replaceWith(link);
  }
});

const allowed = {
  ALLOWED_TAGS:
    'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i img input li ol p pre s strong sub sup table tbody td th thead tr ul'.split(
      ' ',
    ),
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'align', 'start', 'type', 'checked', 'disabled', 'class'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?!svg)|blob:|#)/i,
  FORBID_ATTR: ['style', 'id', 'name'],
};

/** Longer text is shown unformatted: formatting a megabyte would block the page. */
const longest = 200_000;

const known = new Map<string, string>();
const mostKnown = 400;

function htmlOf(text: string): string {
  const made = known.get(text);
  if (made !== undefined) return made;
  const html = purify.sanitize(marked.parse(text, { async: false }), allowed);
  if (known.size >= mostKnown) known.delete(known.keys().next().value ?? '');
  known.set(text, html);
  return html;
}

/** Highlights the code in an element once the highlighter is loaded. */
function colour(element: HTMLElement): void {
  const blocks = [...element.querySelectorAll<HTMLElement>('pre > code[class^=language-]')];
  if (blocks.length === 0) return;
  void import('./highlight.ts').then(({ highlighted }) => {
    for (const block of blocks) {
      const html = highlighted(block.textContent, block.className.slice('language-'.length));
      if (html !== undefined) block.innerHTML = html;
    }
  });
}

/** Formatted Markdown of a model: it runs no scripts and loads nothing. A double click on code copies it. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current) colour(element.current);
  }, [text]);
  if (text.length > longest) return <pre className="plain">{text}</pre>;
  const onDoubleClick = (event: MouseEvent): void => {
    const code = event.target instanceof Element ? event.target.closest('pre') : null;
    if (code) void copyText(code.textContent, 'Code copied');
  };
  return (
    <div
      ref={element}
      className="markdown"
      dir="auto"
      onDoubleClick={onDoubleClick}
      dangerouslySetInnerHTML={{ __html: htmlOf(text) }}
    />
  );
});
