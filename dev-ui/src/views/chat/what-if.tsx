import { Pencil } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { JsonTree } from '../../parts/json-tree.tsx';
import { JsonField } from '../../parts/schema-form.tsx';

interface WhatIfProps {
  readonly title: string;
  readonly label: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly most: number;
  /** Explains what a run with another value does. */
  readonly note: string;
  /** Label of the button that runs it. */
  readonly action?: string;
  /** Absent: it cannot be changed now. It reports its own failures. */
  readonly onRun: ((changed: Record<string, unknown>) => void) | undefined;
  /** Shown below while it is not being changed. */
  readonly children?: ReactNode;
}

const defaultAction = 'Resume in a fork';

/** A value of a call as a tree, and as text to change it. */
export function WhatIf({ title, label, value, most, note, action = defaultAction, onRun, children }: WhatIfProps) {
  const [draft, setDraft] = useState<{ readonly value: unknown }>();
  const changed = draft?.value;
  return (
    <>
      <div className="row">
        <h3 className="grow">{title}</h3>
        {onRun && !draft && (
          <button type="button" className="button small" onClick={() => setDraft({ value })}>
            <Pencil size={12} aria-hidden /> Change the {title.toLowerCase()}
          </button>
        )}
      </div>
      {!draft || !onRun ? (
        <>
          <JsonTree value={value} label={label} most={most} />
          {children}
        </>
      ) : (
        <div className="stack">
          <JsonField
            label={label}
            value={value}
            rows={Math.min(16, linesOf(value) + 1)}
            onChange={(next) => setDraft({ value: next })}
          />
          <p className="meta">{note}</p>
          <div className="row">
            <button
              type="button"
              className="button small primary"
              disabled={!isObject(changed)}
              onClick={() => {
                setDraft(undefined);
                if (isObject(changed)) onRun(changed);
              }}
            >
              {action}
            </button>
            <button type="button" className="button small" onClick={() => setDraft(undefined)}>
              Cancel
            </button>
          </div>
        </div>
      )}
    </>
  );
}

const linesOf = (value: unknown): number => JSON.stringify(value, undefined, 2).split('\n').length;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
