import { Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from './clipboard.ts';

interface CodeProps {
  readonly code: string;
  readonly language?: string;
  readonly label: string;
}

/** A block of code, highlighted once the highlighter is loaded, with a button to copy it. */
export function Code({ code, language = 'json', label }: CodeProps) {
  const [html, setHtml] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    setHtml(undefined);
    void import('./highlight.ts').then(({ highlighted }) => isCurrent && setHtml(highlighted(code, language)));
    return () => {
      isCurrent = false;
    };
  }, [code, language]);
  return (
    <div className="code">
      <button
        type="button"
        className="icon-button code-copy"
        aria-label={`Copy ${label}`}
        onClick={() => void copyText(code)}
      >
        <Copy size={14} aria-hidden />
      </button>
      {html === undefined ? (
        <pre tabIndex={0} aria-label={label}>
          {code}
        </pre>
      ) : (
        <pre tabIndex={0} aria-label={label} dangerouslySetInnerHTML={{ __html: html }} />
      )}
    </div>
  );
}
