import type { ReactNode } from 'react';

/** Shown while something is on its way; invisible for the first moment, because most things are quick. */
export function Loading({ label }: { readonly label: string }) {
  return (
    <p className="loading secondary" role="status">
      {label} …
    </p>
  );
}

/** What a list without entries says, and what to do about it. */
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

/** A request that failed: method, path, status and the server's own words, and a way to try again. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { method, path, status } = error as FailedRequest;
  return (
    <div className="notice error" role="alert">
      <p className="error-text">{error instanceof Error ? error.message : String(error)}</p>
      {method !== undefined && (
        <p className="meta mono">
          {method} {path} · {status === 0 ? 'no answer' : status}
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
