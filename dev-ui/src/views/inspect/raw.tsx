import { Copy } from 'lucide-react';
import type { Event } from '../../../../src/schemas/event.ts';
import { copyText } from '../../parts/clipboard.ts';
import { JsonTree } from '../../parts/json-tree.tsx';

/** The event as it is stored. */
export function Raw({ event }: { readonly event: Event | undefined }) {
  if (!event) return null;
  return (
    <div className="stack">
      <p>
        <button
          type="button"
          className="button small"
          onClick={() => void copyText(JSON.stringify(event, undefined, 2), 'Event copied')}
        >
          <Copy size={12} aria-hidden /> Copy JSON
        </button>
      </p>
      <JsonTree value={event} label="Event" openTo={3} most={2_000} />
    </div>
  );
}
