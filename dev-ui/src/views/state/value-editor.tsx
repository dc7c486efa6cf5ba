import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';
import { messageOf } from '../../api/server.ts';
import { parsed } from './scopes.ts';

interface ValueEditorProps {
  readonly label: string;
  readonly value: unknown;
  readonly onSave: (value: unknown) => Promise<void>;
  readonly onClose: () => void;
}

/** An editor for a JSON value. Invalid JSON can only be saved as a string. */
export function ValueEditor({ label, value, onSave, onClose }: ValueEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(value, undefined, 2) ?? '');
  const [failure, setFailure] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const faultId = useId();
  const result = parsed(text);
  const fault = 'fault' in result ? result.fault : failure;
  const save = async (given: unknown): Promise<void> => {
    setSaving(true);
    try {
      await onSave(given);
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
      setSaving(false);
    }
  };
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if ('value' in result && !isSaving) void save(result.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <form className="stack state-editor" onSubmit={submit}>
      <textarea
        className="input mono"
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : faultId}
        rows={Math.min(16, text.split('\n').length + 1)}
        spellCheck={false}
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setFailure(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      {fault !== undefined && (
        <p id={faultId} className="error-text meta" role="alert">
          {fault}
        </p>
      )}
      <div className="row">
        <button type="submit" className="button small primary" disabled={'fault' in result || isSaving}>
          Save
        </button>
        {'fault' in result && text.trim() !== '' && (
          <button type="button" className="button small" disabled={isSaving} onClick={() => void save(text)}>
            Save as text
          </button>
        )}
        <button type="button" className="button small" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
