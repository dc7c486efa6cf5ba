import { useState } from 'react';
import { callerMayUse } from '../../app/login/me.ts';
import { prefixOf, type Scope, scopes } from './scopes.ts';
import { ValueEditor } from './value-editor.tsx';

interface NewKeyProps {
  readonly taken: readonly string[];
  readonly onSave: (key: string, value: unknown) => Promise<void>;
  readonly onClose: () => void;
}

/** A form for a new key. */
export function NewKey({ taken, onSave, onClose }: NewKeyProps) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('session');
  const key = prefixOf(scope) + name.trim();
  const isTaken = taken.includes(key);
  return (
    <div className="card stack">
      <div className="row">
        <label className="field grow">
          <span>Key</span>
          <input
            className="input mono"
            value={name}
            autoFocus
            aria-invalid={isTaken}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Scope</span>
          <select className="input" value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
            {scopes
              .filter(({ id }) => id !== 'temp' && (id !== 'app' || callerMayUse('app-state')))
              .map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
          </select>
        </label>
      </div>
      {isTaken && <p className="error-text meta">The key “{key}” exists already.</p>}
      <ValueEditor
        label="Value of the new key"
        value=""
        onSave={(value) =>
          name.trim() === '' || isTaken ? Promise.reject(new Error('Give it a name of its own')) : onSave(key, value)
        }
        onClose={onClose}
      />
    </div>
  );
}
