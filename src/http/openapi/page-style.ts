/** The look of the API page. It stands in the page itself, which allows it by its hash. */
export const css = `
:root {
  color-scheme: light dark;
  --line: light-dark(#e3e6eb, #2a313d);
  --muted: light-dark(#5f6776, #939cad);
  --accent: light-dark(#3451d1, #93a6ff);
  font: 15px/23px system-ui, sans-serif;
  background: light-dark(#f7f8fa, #0e1116);
  color: light-dark(#14171c, #e7eaef);
}
body { max-width: 960px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { margin: 0; font-size: 24px; }
h2 { margin: 32px 0 8px; font-size: 18px; }
header p { margin: 4px 0 16px; color: var(--muted); }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0; padding: 0; list-style: none; }
details { margin: 6px 0; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; background: light-dark(#fff, #151920); }
summary { cursor: pointer; overflow-wrap: anywhere; }
code { font: 13px ui-monospace, Menlo, Consolas, monospace; }
.method { display: inline-block; min-width: 56px; font: 600 12px ui-monospace, Menlo, Consolas, monospace; color: var(--accent); }
.delete { color: light-dark(#b9252b, #ff8a8d); }
.what { color: var(--muted); }
table { width: 100%; margin: 8px 0; border-collapse: collapse; }
caption { text-align: start; color: var(--muted); }
th, td { padding: 4px 12px 4px 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;
