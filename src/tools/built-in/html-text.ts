import { setImmediate } from 'node:timers/promises';
import { Tokenizer } from 'htmlparser2';

const invisible = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'head',
  'select',
]);
const inline = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'cite',
  'code',
  'data',
  'em',
  'i',
  'kbd',
  'mark',
  'q',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'time',
  'u',
  'var',
  'wbr',
]);

/** Elements of a head. Any other element starts the body, even if the head was not closed. */
const headOnly = new Set(['title', 'meta', 'link', 'base', 'basefont', 'script', 'style', 'noscript', 'template']);

/** Characters per slice, and milliseconds after which the event loop may do other work. */
const sliceLength = 16 * 1024;
const sliceMs = 5;
/** Longer titles are truncated. */
const maxTitle = 1000;

/**
 * The visible text of a page, one line per block, and its title. Stops after `maxCharacters` of text. Takes linear time
 * whatever the page contains, in slices that do not block the event loop. Throws the signal's reason.
 */
export async function htmlText(
  html: string,
  maxCharacters: number,
  signal?: AbortSignal,
): Promise<{ title: string; text: string }> {
  const page = new PageText(html);
  let begun = performance.now();
  for (let at = 0; at < html.length && page.length <= maxCharacters; at += sliceLength) {
    page.read(html.slice(at, at + sliceLength));
    if (performance.now() - begun < sliceMs) continue;
    await setImmediate();
    signal?.throwIfAborted();
    begun = performance.now();
  }
  return page.end();
}

/** Collects text from a stream of tags, without building a tree. */
class PageText {
  readonly #html: string;
  readonly #tokenizer: Tokenizer;
  readonly #lines: string[] = [];
  #line = '';
  #length = 0;
  #title = '';
  #isTitle = false;
  #tag = '';
  /** The outermost open invisible element, and how many elements of its name are open. */
  #hiddenBy = '';
  #depth = 0;

  constructor(html: string) {
    this.#html = html;
    const nothing = (): void => {};
    this.#tokenizer = new Tokenizer(
      {},
      {
        onopentagname: (start, end) => this.#open(this.#name(start, end)),
        onclosetag: (start, end) => this.#close(this.#name(start, end)),
        // In HTML, only SVG and MathML elements can close themselves; elsewhere the slash has no meaning.
        onselfclosingtag: () => (this.#tag === 'svg' || this.#tag === 'math') && this.#close(this.#tag),
        ontext: (start, end) => this.#add(html.slice(start, end)),
        ontextentity: (codePoint) => this.#add(String.fromCodePoint(codePoint)),
        onattribdata: nothing,
        onattribentity: nothing,
        onattribend: nothing,
        onattribname: nothing,
        oncdata: nothing,
        oncomment: nothing,
        ondeclaration: nothing,
        onend: nothing,
        onopentagend: nothing,
        onprocessinginstruction: nothing,
      },
    );
  }

  /** Characters of text so far. */
  get length(): number {
    return this.#length;
  }

  read(chunk: string): void {
    this.#tokenizer.write(chunk);
  }

  end(): { title: string; text: string } {
    this.#tokenizer.end();
    this.#endLine();
    return { title: tidy(this.#title), text: this.#lines.join('\n') };
  }

  /** The start of the tag name: no relevant name is longer. */
  #name(start: number, end: number): string {
    return this.#html.slice(start, Math.min(end, start + 16)).toLowerCase();
  }

  #open(tag: string): void {
    this.#tag = tag;
    if (tag === 'title') this.#isTitle = true;
    if (this.#hiddenBy === 'head' && !headOnly.has(tag)) this.#hiddenBy = '';
    if (this.#hiddenBy !== '') {
      if (tag === this.#hiddenBy) this.#depth += 1;
    } else if (invisible.has(tag)) {
      this.#hiddenBy = tag;
      this.#depth = 1;
    } else if (!inline.has(tag)) this.#endLine();
  }

  #close(tag: string): void {
    if (tag === 'title') this.#isTitle = false;
    if (this.#hiddenBy !== '') {
      if (tag !== this.#hiddenBy) return;
      this.#depth -= 1;
      if (this.#depth === 0) this.#hiddenBy = '';
    } else if (!inline.has(tag)) this.#endLine();
  }

  #add(text: string): void {
    if (this.#isTitle) {
      if (this.#title.length < maxTitle) this.#title += text.slice(0, maxTitle);
    } else if (this.#hiddenBy === '') {
      this.#line += text;
      this.#length += text.length;
    }
  }

  #endLine(): void {
    const line = tidy(this.#line);
    if (line !== '') this.#lines.push(line);
    this.#length += line.length - this.#line.length + 1;
    this.#line = '';
  }
}

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
