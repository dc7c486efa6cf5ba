import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import type { Content } from '../../../../src/schemas/content.ts';
import { Composer } from '../../app/composer/composer.tsx';
import { useLogVersion, useWorkspaceVersion } from '../../app/current.ts';
import { setQuery, usePlace } from '../../app/place.ts';
import { useSettings } from '../../app/settings.ts';
import type { Workspace } from '../../app/workspace.ts';
import { RowView } from './row-view.tsx';
import { SpeechView } from './speech-view.tsx';
import './chat.css';

const guessedHeight = 48;
/** How far from the end still counts as being there. */
const nearEnd = 40;

/** The conversation: a list of what was said and done, and where the next message is written. */
export function Chat({ workspace }: { readonly workspace: Workspace }) {
  const streaming = useSettings((state) => state.streaming);
  useWorkspaceVersion(workspace);
  const send = (message: Content): void => void workspace.send(message, { streaming });
  return (
    <div className="chat">
      <Stream workspace={workspace} />
      <div className="composer-place">
        <Composer
          autoFocus
          running={workspace.run.status === 'running'}
          placeholder={`Message ${workspace.key.appName}`}
          onSend={send}
          onStop={() => workspace.stop()}
        />
      </div>
    </div>
  );
}

function Stream({ workspace }: { readonly workspace: Workspace }) {
  const { log } = workspace;
  const version = useLogVersion(workspace);
  const { query } = usePlace();
  const selected = query.get('e');
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(selected === null);
  const { rows, speech } = log;
  const virtual = useVirtualizer({
    count: rows.length + (speech ? 1 : 0),
    getScrollElement: () => scroller.current,
    estimateSize: () => guessedHeight,
    getItemKey: (index) => rows[index]?.key ?? 'speech',
    overscan: 6,
  });
  const total = virtual.getTotalSize();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && atEnd) element.scrollTop = element.scrollHeight;
  }, [atEnd, version, total]);
  const jumped = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (selected === null || jumped.current === selected) return;
    const row = log.rowOf(selected);
    if (row === undefined) return;
    jumped.current = selected;
    virtual.scrollToIndex(row, { align: 'auto' });
  }, [selected, log, virtual, version]);
  const onScroll = (): void => {
    const element = scroller.current;
    if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd);
  };
  return (
    <div className="stream-place">
      <div ref={scroller} className="stream" onScroll={onScroll} tabIndex={-1}>
        <div role="feed" aria-label="Conversation" className="virtual-inner" style={{ height: total }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index];
            return (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className="virtual-item"
                style={{ transform: `translateY(${start}px)` }}
              >
                {row ? (
                  <RowView
                    row={row}
                    selected={row.event.id === selected}
                    position={index + 1}
                    size={rows.length}
                    onSelect={(id) => setQuery({ e: id })}
                  />
                ) : (
                  speech && <SpeechView speech={speech} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="button small to-end" onClick={() => setAtEnd(true)}>
          <ArrowDown size={14} aria-hidden /> To the end
        </button>
      )}
    </div>
  );
}
