import { File as FileIcon } from 'lucide-react';
import { Fragment, useState } from 'react';
import type { Part } from '../../../../src/schemas/content.ts';
import { Code } from '../../parts/code.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { shownBytes, shownCount } from '../../parts/numbers.ts';

/** Characters of a text that are shown until the user asks for the rest. */
const clamp = 20_000;

/** The content of a row: text, thoughts, media, code. */
export function MessageParts({ parts, plain = false }: { readonly parts: readonly Part[]; readonly plain?: boolean }) {
  return (
    <>
      {joined(parts).map((part, index) => (
        <Fragment key={index}>
          <PartView part={part} plain={plain} />
        </Fragment>
      ))}
    </>
  );
}

/** Streams leave texts in chunks: adjacent ones are joined again. */
function joined(parts: readonly Part[]): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const isSame =
      last?.text !== undefined && part.text !== undefined && (last.thought ?? false) === (part.thought ?? false);
    if (isSame) whole[whole.length - 1] = { ...last, text: `${last.text}${part.text}` };
    else whole.push(part);
  }
  return whole;
}

function PartView({ part, plain }: { part: Part; plain: boolean }) {
  if (part.text !== undefined && part.thought) return <Thought text={part.text} />;
  if (part.text !== undefined) return <LongText text={part.text} plain={plain} />;
  if (part.inlineData) return <Media {...part.inlineData} />;
  if (part.fileData) {
    const { fileUri, displayName, mimeType } = part.fileData;
    return (
      <p className="file">
        <FileIcon size={14} aria-hidden /> {displayName ?? fileUri} <span className="meta">{mimeType}</span>
      </p>
    );
  }
  if (part.executableCode) {
    const { code, language = 'python' } = part.executableCode;
    return <Code code={code} language={language.toLowerCase()} label="code from the model" />;
  }
  if (part.codeExecutionResult) {
    const { outcome, output = '' } = part.codeExecutionResult;
    return <Code code={output} language="" label={`output of the code (${outcome})`} />;
  }
  return null;
}

function LongText({ text, plain }: { text: string; plain: boolean }) {
  const [all, setAll] = useState(false);
  const isLong = text.length > clamp && !all;
  const shown = isLong ? text.slice(0, clamp) : text;
  return (
    <>
      {plain || isLong ? (
        <div className="said" dir="auto">
          {shown}
        </div>
      ) : (
        <Markdown text={shown} />
      )}
      {isLong && (
        <button type="button" className="button small" onClick={() => setAll(true)}>
          Show all {shownCount(text.length)} characters
        </button>
      )}
    </>
  );
}

function Thought({ text }: { text: string }) {
  return (
    <details className="thought">
      <summary>Thought</summary>
      <LongText text={text} plain />
    </details>
  );
}

interface MediaProps {
  readonly mimeType: string;
  readonly data: string;
  readonly displayName?: string | undefined;
}

/** Base64 of either alphabet in the standard alphabet, for data URLs. */
const standard = (data: string): string => data.replaceAll('-', '+').replaceAll('_', '/');

function Media({ mimeType, data, displayName = mimeType }: MediaProps) {
  const address = `data:${mimeType};base64,${standard(data)}`;
  if (mimeType.startsWith('image/')) return <img className="media" src={address} alt={displayName} loading="lazy" />;
  if (mimeType.startsWith('audio/') && !mimeType.startsWith('audio/pcm')) {
    return <audio className="media" controls src={address} aria-label={displayName} />;
  }
  if (mimeType.startsWith('video/')) return <video className="media" controls src={address} aria-label={displayName} />;
  return (
    <p>
      <a className="button small" href={address} download={displayName}>
        <FileIcon size={14} aria-hidden /> {displayName} · {shownBytes((data.length * 3) / 4)}
      </a>
    </p>
  );
}
