import { useRef, useState } from 'react';
import type { Session } from '../../../../src/schemas/session.ts';
import { messageOf } from '../../api/server.ts';
import { titleOf } from '../../app/names.ts';
import { kindOf } from '../../log/filter.ts';
import { Author } from '../../parts/author.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { shownTime } from '../../parts/numbers.ts';
import { VirtualList } from '../../parts/virtual-list.tsx';
import './file.css';

/** An exported session, read-only: it never leaves the browser. */
export function ViewFile() {
  const [session, setSession] = useState<Session>();
  const [fault, setFault] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const open = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      const value = JSON.parse(await file.text()) as Partial<Session>;
      if (!Array.isArray(value.events)) throw new Error('it has no events');
      setSession({
        id: file.name,
        appName: '',
        userId: '',
        state: {},
        lastUpdateTime: 0,
        ...value,
        events: value.events,
      });
      setFault('');
    } catch (error) {
      setFault(`“${file.name}” is not an exported session: ${messageOf(error)}`);
    }
  };
  return (
    <div
      className="view-file"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void open(event.dataTransfer.files[0]);
      }}
    >
      <div className="view-file-head stack">
        <h1>{session ? titleOf(session) : 'View a file'}</h1>
        <p className="secondary">
          {session
            ? `${session.events.length} ${session.events.length === 1 ? 'event' : 'events'}. Read-only: nothing is sent to the server.`
            : 'Drop an exported session here, or choose a file. The browser reads it; nothing is sent to a server.'}
        </p>
        <p>
          <input
            ref={input}
            type="file"
            accept="application/json,.json"
            hidden
            onChange={(event) => void open(event.target.files?.[0])}
          />
          <button type="button" className="button primary" onClick={() => input.current?.click()}>
            Choose a file
          </button>
        </p>
        {fault !== '' && (
          <p className="error-text" role="alert">
            {fault}
          </p>
        )}
      </div>
      {session && (
        <VirtualList
          className="grow"
          label="Events"
          items={session.events}
          keyOf={(event, index) => `${event.id}-${index}`}
          height={60}
          measured
          render={(event) => (
            <article className="file-event">
              <p className="row">
                <Author name={event.author} />{' '}
                <span className="badge">{kindOf({ ...event, actions: actionsOf(event) })}</span>
                <span className="meta">{shownTime(event.timestamp)}</span>
              </p>
              <Markdown text={(event.content?.parts ?? []).map((part) => part.text ?? '').join('')} />
              <details>
                <summary className="meta">JSON</summary>
                <JsonTree value={event} label="Event" most={320} />
              </details>
            </article>
          )}
        />
      )}
    </div>
  );
}

/** Fills in fields that a file may leave out and the server always sends. */
const actionsOf = (event: Session['events'][number]): Session['events'][number]['actions'] => ({
  stateDelta: {},
  artifactDelta: {},
  requestedAuthConfigs: {},
  requestedToolConfirmations: {},
  ...(event.actions as Partial<typeof event.actions> | undefined),
});
