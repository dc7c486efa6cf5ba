import { useId } from 'react';

interface JsonFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Describes errors other than invalid JSON. */
  readonly fault?: string | undefined;
}

/** A field for a JSON object, with a message when it is not valid. */
export function JsonField({ label, value, onChange, fault }: JsonFieldProps) {
  const id = useId();
  const problem = fault ?? (parseJson(value) ? undefined : 'This is not a JSON object');
  return (
    <label className="field">
      <span>{label}</span>
      <textarea
        className="input mono"
        spellCheck={false}
        rows={Math.min(12, value.split('\n').length + 1)}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        onChange={(event) => onChange(event.target.value)}
      />
      {problem !== undefined && (
        <span id={id} className="error-text">
          {problem}
        </span>
      )}
    </label>
  );
}

/** The parsed object of a text; `undefined` when the text is not a JSON object. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
