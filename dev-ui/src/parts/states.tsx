import type { ReactNode } from 'react';

/** Shown while data is loading; invisible for the first moment, because most requests are fast. */
export function Loading({ label }: { readonly label: string }) {
  return (
    <p className="loading secondary" role="status">
      {label} …
    </p>
  );
}

/** The empty state of a list: a title, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="secondary">{children}</div>}
    </div>
  );
}

interface FailedRequest {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
}

/** A failed request: method, path, status, the message of the server, and a button to retry. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { method, path, status } = error as FailedRequest;
  return (
    <div className="notice error" role="alert">
      <p className="error-text">{error instanceof Error ? error.message : String(error)}</p>
      {method !== undefined && (
        <p className="meta mono">
          {method} {path} · {status === 0 ? 'no response' : status}
        </p>
      )}
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
