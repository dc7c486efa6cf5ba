import { Component, type ReactNode } from 'react';

/** An error boundary: shows the error of one part of the page and keeps the rest working. */
export class Faulty extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="notice error" role="alert">
        <p>
          <strong>This part of the page failed.</strong> The rest still works.
        </p>
        <pre className="error-text">
          {error instanceof Error ? (error.stack ?? error.message) : 'The thrown value is not an Error'}
        </pre>
        <button type="button" className="button small" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>
      </div>
    );
  }
}
