import { useState } from 'react';
import type { Content, Part } from '../../../../src/schemas/content.ts';
import { JsonTree } from '../../parts/json-tree.tsx';

/** Messages drawn at first, the newest ones: a long history has thousands. */
const atFirst = 20;
const more = 100;
/** Characters of a text that are shown. */
const clamp = 4_000;

/** The messages of a model request. */
export function Messages({ messages }: { readonly messages: readonly Content[] }) {
  const [count, setCount] = useState(atFirst);
  const hidden = Math.max(0, messages.length - count);
  return (
    <>
      {hidden > 0 && (
        <button type="button" className="button small" onClick={() => setCount(count + more)}>
          Show {Math.min(more, hidden)} of {hidden} earlier messages
        </button>
      )}
      <ol className="sent" start={hidden + 1}>
        {messages.slice(hidden).map(({ role = 'user', parts }, index) => (
          <li key={hidden + index} className="sent-message">
            <p className="meta">
              {hidden + index + 1} · {role}
            </p>
            {parts.map((part, at) => (
              <PartOf key={at} part={part} />
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

function PartOf({ part }: { part: Part }) {
  if (part.text !== undefined) {
    const isLong = part.text.length > clamp;
    return (
      <pre className={`plain${part.thought ? ' thought' : ''}`} dir="auto">
        {part.text.slice(0, clamp)}
        {isLong && `… (${part.text.length} characters)`}
      </pre>
    );
  }
  const { functionCall, functionResponse } = part;
  if (functionCall) return <Named verb="calls" name={functionCall.name} value={functionCall.args ?? {}} />;
  if (functionResponse)
    return <Named verb="result of" name={functionResponse.name} value={functionResponse.response} />;
  if (part.inlineData) return <p className="secondary">{part.inlineData.mimeType}, inline</p>;
  return <JsonTree value={part} label="Part" most={200} />;
}

function Named({ verb, name, value }: { verb: string; name: string; value: unknown }) {
  return (
    <>
      <p className="secondary">
        {verb} <code>{name}</code>
      </p>
      <JsonTree value={value} label={`${verb} ${name}`} most={200} />
    </>
  );
}
