import fc from 'fast-check';
import { expect, it } from 'vitest';
import { htmlText } from '../../../src/tools/built-in/html-text.ts';

const textOf = async (html: string, max = Infinity): Promise<string> => (await htmlText(html, max)).text;

it.each([
  ['<svg><title>in it</title><svg></svg>hidden</svg>seen', 'seen'],
  ['<svg/>seen<math/> too', 'seen too'],
  ['<script>if (a < b) "</p>"</script>seen', 'seen'],
  ['<head><meta x><p>a head that was left open', 'a head that was left open'],
  ['<p>a<p>b<!-- c --><b>d</b>', 'a\nbd'],
  ['a &amp; b &#x41; &unknown; &', 'a & b A &unknown; &'],
  ['<ul><li>one<li>two</ul>three', 'one\ntwo\nthree'],
  ['a\0b <![CDATA[c]]> <!doctype x> <?php y ?>d', 'a\0b d'],
  ['<a href="x" title=\'<p>\'>link</a >s', 'links'],
  ['</div></p></svg>a', 'a'],
  ['<template>hidden', ''],
])('reads %j as %j', async (html, text) => {
  expect(await textOf(html)).toBe(text);
});

it('reads no further than is wanted', async () => {
  const text = await textOf('<p>word'.repeat(100_000), 1_000);

  expect(text.length).toBeGreaterThanOrEqual(1_000);
  expect(text.length).toBeLessThan(50_000);
});

it.each([
  '<svg>',
  '<div>',
  '<p>x',
  '<a b="c">',
  '</',
  '<!--',
  '<![CDATA[',
  '&amp;',
  '\0',
  '<math/>',
  '<title>',
  '<table><tr><td>',
])(
  'gives others their turn while it reads two megabytes of %j',
  async (piece) => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await htmlText(piece.repeat(2_000_000 / piece.length), Infinity);
    clearInterval(timer);

    expect(turns).toBeGreaterThan(0);
  },
  30_000,
);

it('stops when nobody waits any more', async () => {
  const signal = AbortSignal.abort(new Error('left'));

  await expect(htmlText('<div>'.repeat(1_000_000), Infinity, signal)).rejects.toThrow('left');
});

it('survives whatever a page is made of', async () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '/',
    'svg',
    'head',
    'script',
    'title',
    '&',
    '#x',
    ';',
    '"',
    ' ',
    '!--',
    '-->',
    'é',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      expect(typeof (await textOf(pieces.join('')))).toBe('string');
    }),
  );
});
