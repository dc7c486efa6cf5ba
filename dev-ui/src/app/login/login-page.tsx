import { type FormEvent, useEffect, useState } from 'react';
import { loginByKey, issuerLoginAddress, type LoginMethods, readLoginMethods } from '../../api/login.ts';
import { ApiError } from '../../api/server.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { getLocation, hrefOf, withQuery } from '../location.ts';
import './login.css';

/** Why the issuer did not log the user in, as the server says in `?failed=`. */
const reasons: Readonly<Record<string, string>> = {
  denied: 'The login was cancelled, or you may not use this server.',
  expired: 'The login took too long, or was started in another tab. Try again.',
  unavailable: 'The login server cannot be reached. Try again in a moment.',
  refused: 'The login server sent an answer that is not valid here. Ask the operator: the log says why.',
};

/** The page of this address, once the caller is known. */
const nextAddress = (): string => hrefOf(getLocation().path === '/login' ? '/' : withQuery({}));

interface LoginPageProps {
  /** What went wrong when the server was asked who the caller is. */
  readonly failure: unknown;
}

/** Asks for a login, by the ways that the server offers. */
export function LoginPage({ failure }: LoginPageProps) {
  const [methods, setMethods] = useState<LoginMethods>();
  const [fault, setFault] = useState<unknown>(failure);
  useEffect(() => {
    document.title = 'Log in – agent-server';
    readLoginMethods().then(setMethods, (error: unknown) => {
      const hasNoLogin = error instanceof ApiError && (error.status === 401 || error.status === 404);
      if (hasNoLogin) setMethods({ key: false });
      else setFault(error);
    });
  }, []);
  const reason = reasons[getLocation().query.get('failed') ?? ''];
  return (
    <main className="login">
      <div className="login-card card stack">
        <header>
          <p className="meta">agent-server</p>
          <h1>Log in</h1>
        </header>
        {reason !== undefined && (
          <p className="notice error error-text" role="alert">
            {reason}
          </p>
        )}
        {fault !== undefined && <Failure error={fault} onRetry={() => window.location.reload()} />}
        {!methods && fault === undefined && <Loading label="Loading" />}
        {methods?.issuer !== undefined && (
          <a className="button primary" href={issuerLoginAddress(nextAddress())}>
            Log in with {new URL(methods.issuer).host}
          </a>
        )}
        {methods?.issuer !== undefined && methods.key && <p className="login-or meta">or</p>}
        {methods?.key && <KeyForm isOnly={methods.issuer === undefined} />}
        {methods && !methods.key && methods.issuer === undefined && (
          <p className="secondary">
            This server has no login for browsers: it expects a token or a proxy in front of it. Its operator can add
            API keys or an issuer (<code>auth.keys</code>, <code>auth.login</code>).
          </p>
        )}
      </div>
    </main>
  );
}

function KeyForm({ isOnly }: { readonly isOnly: boolean }) {
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [isSending, setIsSending] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setIsSending(true);
    setFailure(undefined);
    try {
      await loginByKey(key.trim());
      window.location.replace(nextAddress());
    } catch (error) {
      setFailure(error);
      setIsSending(false);
    }
  };
  const isWrong = failure instanceof ApiError && failure.status === 401;
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="stack login-key">
        API key
        <input
          className="input mono"
          type="password"
          autoComplete="current-password"
          placeholder="ask_…"
          autoFocus={isOnly}
          required
          maxLength={512}
          aria-invalid={isWrong}
          aria-describedby="login-key-note"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </label>
      {isWrong ? (
        <p id="login-key-note" className="error-text" role="alert">
          This key is unknown, revoked or expired.
        </p>
      ) : (
        <p id="login-key-note" className="meta">
          Typed once: this browser keeps a login, not the key.
        </p>
      )}
      {failure !== undefined && !isWrong && <Failure error={failure} />}
      <button type="submit" className={`button${isOnly ? ' primary' : ''}`} disabled={isSending}>
        Log in
      </button>
    </form>
  );
}
