import { useQuery } from '@tanstack/react-query';
import { readReadme } from '../api/apps.ts';
import { useServes } from './served.ts';

/** A heading of the README whose list contains suggested messages. */
const heading = /^#{2,6}\s*(?:try|starters?|examples?|prompts?)\b[^\n]*\n+((?:[ \t]*[-*] [^\n]*(?:\n|$)|[ \t]*\n)+)/im;
const most = 6;
const usual = ['What can you do?'];

interface Readme {
  /** Markdown, without the list of starters. */
  readonly text: string;
  /** Suggested messages: the list below a heading such as “Try” of the app's README. */
  readonly starters: readonly string[];
}

const cleaned = (line: string): string =>
  line
    .replace(/^\s*[-*] /, '')
    .trim()
    .replace(/^(["'`“])(.*)["'`”]$/, '$2');

/** Splits the README of an app into its text and its suggested messages. */
export function readmeOf(text: string): Readme {
  const list = heading.exec(text);
  if (!list) return { text, starters: usual };
  const lines = (list[1] ?? '').split('\n').map(cleaned);
  return { text: text.replace(list[0], ''), starters: lines.filter((line) => line !== '').slice(0, most) };
}

export function useReadme(app: string): Readme | undefined {
  const isServed = useServes('app-details');
  const { data } = useQuery({
    queryKey: ['readme', app],
    queryFn: ({ signal }) => readReadme(app, signal),
    enabled: isServed === true,
  });
  const text = isServed === false ? '' : data;
  return text === undefined ? undefined : readmeOf(text);
}

interface StartersProps {
  readonly app: string;
  readonly disabled: boolean;
  readonly onSay: (text: string) => void;
}

/** Suggested first messages. */
export function Starters({ app, disabled, onSay }: StartersProps) {
  const readme = useReadme(app);
  if (!readme) return null;
  return (
    <ul className="starters" aria-label="Suggestions">
      {readme.starters.map((text) => (
        <li key={text}>
          <button type="button" className="button" disabled={disabled} onClick={() => onSay(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
