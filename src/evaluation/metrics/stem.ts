// Porter's stemmer ("An algorithm for suffix stripping", 1980) with NLTK's default extensions, as in ADK's response
// match score. The packages for JavaScript have the original algorithm, whose stems differ.

const irregular = new Map(
  Object.entries({
    sky: ['sky', 'skies'],
    die: ['dying'],
    lie: ['lying'],
    tie: ['tying'],
    news: ['news'],
    inning: ['innings', 'inning'],
    outing: ['outings', 'outing'],
    canning: ['cannings', 'canning'],
    howe: ['howe'],
    proceed: ['proceed'],
    exceed: ['exceed'],
    succeed: ['succeed'],
  }).flatMap(([base, forms]) => forms.map((form) => [form, base] as const)),
);

/** A suffix, its replacement, and the measure that its stem must exceed. */
type Rule = readonly [suffix: string, replacement: string, above?: number];

const step1a: readonly Rule[] = [
  ['sses', 'ss'],
  ['ies', 'i'],
  ['ss', 'ss'],
  ['s', ''],
];
const step2 = [
  ...rules(0, 'ational ate,tional tion,enci ence,anci ance,izer ize,bli ble,alli al,entli ent,eli e,ousli ous'),
  ...rules(0, 'ization ize,ation ate,ator ate,alism al,iveness ive,fulness ful,ousness ous,aliti al,iviti ive'),
  ...rules(0, 'biliti ble,fulli ful'),
];
const step3 = rules(0, 'icate ic,ative ,alize al,iciti ic,ical ic,ful ,ness ');
const step4Before = rules(1, 'al ,ance ,ence ,er ,ic ,able ,ible ,ant ,ement ,ment ,ent ');
const step4After = rules(1, 'ou ,ism ,ate ,iti ,ous ,ive ,ize ');

function rules(above: number, text: string): Rule[] {
  return text.split(',').map((rule) => {
    const [suffix = '', replacement = ''] = rule.split(' ');
    return [suffix, replacement, above] as const;
  });
}

/** The stem of a word in lower-case ASCII letters and digits. */
export function stem(word: string): string {
  const known = irregular.get(word);
  if (known !== undefined) return known;
  if (word.length <= 2) return word;
  const plural = word.endsWith('ies') && word.length === 4 ? word.slice(0, -1) : firstOf(step1a, word);
  const stripped = applyStep4(firstOf(step3, applyStep2(endOfY(endOfVerb(plural)))));
  const bare = withoutE(stripped);
  return bare.endsWith('ll') && measure(bare.slice(0, -1)) > 1 ? bare.slice(0, -1) : bare;
}

/** Applies the first rule whose suffix matches, if its condition holds, and no other rule. */
function firstOf(list: readonly Rule[], word: string): string {
  for (const [suffix, replacement, above = -1] of list) {
    if (!word.endsWith(suffix)) continue;
    const rest = word.slice(0, word.length - suffix.length);
    return measure(rest) > above ? rest + replacement : word;
  }
  return word;
}

/** Step 1b: "-ed" and "-ing". */
function endOfVerb(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((end) => word.endsWith(end) && hasVowel(word.slice(0, -end.length)));
  if (suffix === undefined) return word;
  const rest = word.slice(0, -suffix.length);
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (endsInDouble(rest)) return /[lsz]$/.test(rest) ? rest : rest.slice(0, -1);
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

/** Step 1c: "-y" after a consonant. */
function endOfY(word: string): string {
  const rest = word.slice(0, -1);
  return word.endsWith('y') && rest.length > 1 && isConsonant(rest, rest.length - 1) ? `${rest}i` : word;
}

function applyStep2(word: string): string {
  if (word.endsWith('alli') && measure(word.slice(0, -4)) > 0) return applyStep2(word.slice(0, -2));
  const done = firstOf(step2, word);
  if (done !== word || step2.some(([suffix]) => word.endsWith(suffix))) return done;
  return word.endsWith('logi') && measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
}

function applyStep4(word: string): string {
  const fits = (list: readonly Rule[]): boolean => list.some(([suffix]) => word.endsWith(suffix));
  if (fits(step4Before)) return firstOf(step4Before, word);
  if (!word.endsWith('ion')) return firstOf(step4After, word);
  const rest = word.slice(0, -3);
  return measure(rest) > 1 && /[st]$/.test(rest) ? rest : word;
}

/** Step 5a: "-e". */
function withoutE(word: string): string {
  if (!word.endsWith('e')) return word;
  const rest = word.slice(0, -1);
  const size = measure(rest);
  return size > 1 || (size === 1 && !endsShort(rest)) ? rest : word;
}

/** Whether each character is a consonant: "y" is one unless it follows one. */
function consonants(word: string): boolean[] {
  const flags: boolean[] = [];
  for (const [index, letter] of word.split('').entries()) {
    flags.push(letter === 'y' ? index === 0 || !flags[index - 1] : !'aeiou'.includes(letter));
  }
  return flags;
}

const isConsonant = (word: string, index: number): boolean => consonants(word)[index] === true;
const hasVowel = (word: string): boolean => consonants(word).includes(false);

/** How often a vowel is followed by a consonant. */
function measure(word: string): number {
  const flags = consonants(word);
  return flags.filter((flag, index) => flag && flags[index - 1] === false).length;
}

function endsInDouble(word: string): boolean {
  return word.length >= 2 && word.at(-1) === word.at(-2) && isConsonant(word, word.length - 1);
}

/** Whether the word ends in consonant, vowel, and a consonant other than w, x and y; or is only a vowel and a consonant. */
function endsShort(word: string): boolean {
  const flags = consonants(word).slice(-3);
  if (word.length === 2) return flags[0] === false && flags[1] === true;
  return word.length > 2 && flags[0] === true && flags[1] === false && flags[2] === true && !/[wxy]$/.test(word);
}
