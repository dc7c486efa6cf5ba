/** Markup that is safe to put into a page as it is. */
export interface Html {
  readonly markup: string;
}

/** Builds markup; texts put into it are escaped. */
export function html(pieces: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  return { markup: String.raw({ raw: pieces }, ...values.map(markupOf)) };
}

export const join = (items: readonly (string | Html)[], separator = ''): Html => ({
  markup: items.map(markupOf).join(separator),
});

const markupOf = (value: string | Html): string => (typeof value === 'string' ? escape(value) : value.markup);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
