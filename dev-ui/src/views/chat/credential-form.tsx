import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import type { Workspace } from '../../app/workspace.ts';
import type { RequestRow } from '../../log/rows.ts';
import { JsonField } from '../../parts/schema-form.tsx';
import { answerRequest } from './requests.ts';

interface OAuth {
  readonly authUri?: string;
  readonly authResponseUri?: string;
  readonly redirectUri?: string;
}
interface Credential {
  readonly authType?: string;
  readonly apiKey?: string;
  readonly oauth2?: OAuth;
}
interface AuthConfig {
  readonly authScheme?: { readonly type?: string };
  readonly rawAuthCredential?: Credential;
  readonly exchangedAuthCredential?: Credential;
}

/** A credential request: sign in on the provider's page, enter an API key, or enter the whole response as JSON. */
export function CredentialForm({ row, workspace }: { readonly row: RequestRow; readonly workspace: Workspace }) {
  const config = (row.call.args?.['authConfig'] ?? row.call.args?.['auth_config'] ?? {}) as AuthConfig;
  const exchanged = config.exchangedAuthCredential;
  const [text, setText] = useState('');
  const [json, setJson] = useState<unknown>(config);
  const busy = workspace.run.status === 'running';
  const authUri = exchanged?.oauth2?.authUri;
  const isSafe = authUri !== undefined && /^https?:\/\//i.test(authUri);
  const send = (credential: Credential): void =>
    answerRequest(workspace, row, { ...config, exchangedAuthCredential: { ...exchanged, ...credential } });
  const submit = (): void => {
    if (authUri === undefined) send({ authType: 'apiKey', apiKey: text });
    else send({ oauth2: { ...exchanged?.oauth2, authResponseUri: text, redirectUri: text.split('?', 1)[0] ?? '' } });
  };
  return (
    <div className="stack">
      {isSafe && (
        <p>
          <a className="button" href={authUri} target="_blank" rel="noopener noreferrer">
            <ExternalLink size={14} aria-hidden /> Sign in at {new URL(authUri).host}
          </a>
        </p>
      )}
      <label className="field">
        <span>{authUri === undefined ? 'API key' : 'Address of the page that opened after sign-in'}</span>
        <input
          className="input"
          type={authUri === undefined ? 'password' : 'url'}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <p>
        <button type="button" className="button primary" disabled={busy || text === ''} onClick={submit}>
          Continue
        </button>
      </p>
      <details>
        <summary>Respond with JSON</summary>
        <JsonField label="Response as JSON" value={config} rows={8} onChange={setJson} />
        <button
          type="button"
          className="button small"
          disabled={busy || json === undefined}
          onClick={() => answerRequest(workspace, row, json as Record<string, unknown>)}
        >
          Send
        </button>
      </details>
    </div>
  );
}
