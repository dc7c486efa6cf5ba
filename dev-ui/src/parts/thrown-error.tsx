import { FileCode } from 'lucide-react';
import { copyText } from './clipboard.ts';

interface ThrownErrorProps {
  readonly name?: string | undefined;
  readonly message: string;
  readonly where?: string | undefined;
  readonly errorId?: string | undefined;
}

/** An error that code threw: its name, message, file and line. */
export function ThrownError({ name, message, where, errorId }: ThrownErrorProps) {
  return (
    <div className="thrown">
      <pre className="error-text">
        {name !== undefined && <strong>{name}: </strong>}
        {message}
      </pre>
      {where !== undefined ? (
        <button
          type="button"
          className="thrown-where mono"
          title="Copy file and line"
          onClick={() => void copyText(where, 'File and line copied')}
        >
          <FileCode size={14} aria-hidden /> <span>{where}</span>
        </button>
      ) : (
        errorId !== undefined && <p className="meta">Details are in the server log, under {errorId}</p>
      )}
    </div>
  );
}
