import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { memo } from 'react';

const marked = new Marked({ gfm: true, breaks: true });
const purify = DOMPurify(window);

/** Whether an address leads to this machine's own data: anything else would tell another server that we looked. */
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

/** Text longer than this is shown as it is: nobody reads a formatted megabyte. */
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

/** What a model wrote, formatted: nothing in it runs, and nothing in it is fetched. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  if (text.length > longest) return <pre className="plain">{text}</pre>;
  return <div className="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: htmlOf(text) }} />;
});
