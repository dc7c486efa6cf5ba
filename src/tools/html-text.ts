import { Parser } from 'htmlparser2';

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

/** The text a reader of a page sees, one line for each block, and its title. */
export function htmlText(html: string): { title: string; text: string } {
  let title = '';
  let text = '';
  let isTitle = false;
  let hidden = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (name === 'title') isTitle = true;
      if (invisible.has(name)) hidden += 1;
      else if (!inline.has(name)) text += '\n';
    },
    ontext(data) {
      if (isTitle) title += data;
      else if (hidden === 0) text += data.replace(/\s+/g, ' ');
    },
    onclosetag(name) {
      if (name === 'title') isTitle = false;
      if (invisible.has(name)) hidden -= 1;
      else if (!inline.has(name)) text += '\n';
    },
  });
  parser.end(html);
  const lines = text.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
  return { title: title.trim().replace(/\s+/g, ' '), text: lines.filter((line) => line !== '').join('\n') };
}
