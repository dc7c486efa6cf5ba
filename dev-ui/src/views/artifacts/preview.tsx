import { useState } from 'react';
import { Markdown } from '../../parts/markdown.tsx';
import { shownBytes } from '../../parts/numbers.ts';
import { type Content, kindOf, textIn, useObjectUrl } from './media.ts';

interface PreviewProps {
  readonly name: string;
  readonly content: Content;
}

/** Longer texts are cut: the file can be downloaded. */
const longest = 300_000;

/** A preview of an artifact. It runs no scripts and loads nothing. */
export function Preview({ name, content }: PreviewProps) {
  const { mimeType, bytes, uri } = content;
  const kind = kindOf(mimeType, uri !== undefined);
  const url = useObjectUrl(bytes, mimeType);
  if (kind === 'link') return <p className="secondary mono artifact-uri">{uri}</p>;
  if (!bytes) return null;
  switch (kind) {
    case 'image':
      return url === undefined ? null : <img className="artifact-image" src={url} alt={name} />;
    case 'audio':
      return <audio controls src={url} aria-label={name} />;
    case 'video':
      return <video className="artifact-image" controls src={url} aria-label={name} />;
    case 'html':
      return (
        <TwoWays
          text={textIn(bytes)}
          shown={(text) => <iframe className="artifact-frame" sandbox="" srcDoc={text} title={`Preview of ${name}`} />}
          note="Scripts do not run. Nothing is loaded from other hosts, including styles."
        />
      );
    case 'markdown':
      return <TwoWays text={textIn(bytes)} shown={(text) => <Markdown text={text} />} />;
    case 'json':
      return <Source text={formatted(textIn(bytes))} />;
    case 'text':
      return <Source text={textIn(bytes)} />;
    case 'binary':
    default:
      return (
        <p className="secondary">
          {mimeType || 'Unknown type'}, {shownBytes(bytes.length)}: no preview for this type.
        </p>
      );
  }
}

interface TwoWaysProps {
  readonly text: string;
  readonly shown: (text: string) => React.ReactNode;
  readonly note?: string;
}

function TwoWays({ text, shown, note }: TwoWaysProps) {
  const [isSource, setSource] = useState(false);
  return (
    <div className="stack">
      <div className="row">
        {note !== undefined && !isSource && <span className="meta grow">{note}</span>}
        <button type="button" className="button small" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
          Source
        </button>
      </div>
      {isSource ? <Source text={text} /> : shown(text)}
    </div>
  );
}

function Source({ text }: { readonly text: string }) {
  return (
    <pre className="plain artifact-text" dir="auto" tabIndex={0} aria-label="Content">
      {text.slice(0, longest)}
      {text.length > longest && '\n… truncated here'}
    </pre>
  );
}

function formatted(text: string): string {
  if (text.length > longest) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
