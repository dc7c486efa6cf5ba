import { useState } from 'react';
import { type Schema, typeOf } from './schema.ts';

interface SchemaFormProps {
  readonly schema: Schema | undefined;
  readonly value: unknown;
  /** `undefined` while the text is not valid JSON. */
  readonly onChange: (value: unknown) => void;
  readonly label: string;
}

const simple = new Set(['string', 'number', 'integer', 'boolean']);

/** A form for the simple properties of an object, and JSON for all of it: both show the same value. */
export function SchemaForm({ schema, value, onChange, label }: SchemaFormProps) {
  const fields = Object.entries(schema?.properties ?? {});
  const canShowFields = fields.length > 0;
  const [asJson, setAsJson] = useState(!canShowFields);
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return (
    <div className="stack schema-form" role="group" aria-label={label}>
      {canShowFields && (
        <button type="button" className="button small as-json" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
          {asJson ? 'Edit as form' : 'Edit as JSON'}
        </button>
      )}
      {asJson ? (
        <JsonField label={label} value={value} onChange={onChange} />
      ) : (
        fields.map(([name, child]) => (
          <Field
            key={name}
            name={name}
            schema={child}
            required={schema?.required?.includes(name) ?? false}
            value={object[name]}
            onChange={(next) => {
              const { [name]: _, ...rest } = object;
              onChange(next === undefined ? rest : { ...rest, [name]: next });
            }}
          />
        ))
      )}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function Field({ name, schema, required, value, onChange }: FieldProps) {
  const type = typeOf(schema);
  const title = (
    <span>
      {schema.title ?? name}
      {required ? ' *' : ''} {schema.description !== undefined && <span className="meta">{schema.description}</span>}
    </span>
  );
  if (!simple.has(type)) {
    return (
      <label className="field">
        {title}
        <JsonField label={name} value={value} onChange={onChange} />
      </label>
    );
  }
  if (type === 'boolean') {
    return (
      <label className="row">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {title}
      </label>
    );
  }
  if (schema.enum) {
    return (
      <label className="field">
        {title}
        <select
          className="input"
          value={typeof value === 'string' ? value : JSON.stringify(value)}
          onChange={(event) => onChange(event.target.value)}
        >
          {schema.enum.map((choice) => (
            <option key={JSON.stringify(choice)}>{typeof choice === 'string' ? choice : JSON.stringify(choice)}</option>
          ))}
        </select>
      </label>
    );
  }
  const isNumber = type !== 'string';
  return (
    <label className="field">
      {title}
      <input
        className="input"
        type={isNumber ? 'number' : 'text'}
        step={type === 'integer' ? 1 : 'any'}
        required={required}
        value={typeof value === 'string' || typeof value === 'number' ? value : ''}
        onChange={({ target }) =>
          onChange(isNumber ? (target.value === '' ? undefined : Number(target.value)) : target.value)
        }
      />
    </label>
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly value: unknown;
  /** `undefined` while the text is not valid JSON. */
  readonly onChange: (value: unknown) => void;
  readonly rows?: number;
}

/** JSON as text, with a message for its errors. */
export function JsonField({ label, value, onChange, rows = 6 }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)));
  const [fault, setFault] = useState('');
  const change = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setFault('');
    } catch (error) {
      onChange(undefined);
      setFault(error instanceof Error ? error.message : 'Not valid JSON');
    }
  };
  return (
    <>
      <textarea
        className="input mono"
        aria-label={label}
        aria-invalid={fault !== ''}
        rows={rows}
        spellCheck={false}
        value={text}
        onChange={(event) => change(event.target.value)}
      />
      {fault !== '' && (
        <p className="error-text meta" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}
