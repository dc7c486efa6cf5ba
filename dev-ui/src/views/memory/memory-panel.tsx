import { useQuery } from '@tanstack/react-query';
import { BookmarkPlus, Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { MemoryEntry } from '../../../../src/schemas/records.ts';
import { readCapabilities } from '../../api/extensions.ts';
import { rememberSession, searchMemory } from '../../api/memories.ts';
import { messageOf } from '../../api/server.ts';
import { queries } from '../../app/queries.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Author } from '../../parts/author.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import './memory.css';

/** Searches the memory of the app for the user, and adds this session to it. */
export function MemoryPanel({ workspace: { key } }: { readonly workspace: Workspace }) {
  const { appName, userId } = key;
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const capabilities = useQuery({ queryKey: ['capabilities'], queryFn: ({ signal }) => readCapabilities(signal) });
  const found = useQuery({
    queryKey: ['memory', appName, userId, words],
    queryFn: ({ signal }) => searchMemory(key, words, signal),
    enabled: words !== '',
  });
  if (capabilities.data && !capabilities.data.features.includes('memory')) {
    return <Empty title="No memory service">This server runs without a memory service.</Empty>;
  }
  const search = (event: FormEvent): void => {
    event.preventDefault();
    setWords(typed.trim());
  };
  const remember = async (): Promise<void> => {
    try {
      await rememberSession(key);
      toast('Session added to memory');
      await queries.invalidateQueries({ queryKey: ['memory', appName, userId] });
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  return (
    <div className="stack memory">
      <p className="secondary">
        What {appName} remembers of the user “{userId}”. Sessions are added when an agent, a client or you request it.
      </p>
      <p>
        <button type="button" className="button small" onClick={() => void remember()}>
          <BookmarkPlus size={14} aria-hidden /> Add this session to memory
        </button>
      </p>
      <form className="row" onSubmit={search}>
        <input
          className="input grow"
          aria-label="Search the memory"
          placeholder="Search words"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button type="submit" className="button" disabled={typed.trim() === ''}>
          <Search size={14} aria-hidden /> Search
        </button>
      </form>
      {found.isLoading && <Loading label="Searching" />}
      {found.isError && <Failure error={found.error} onRetry={() => void found.refetch()} />}
      {found.data?.length === 0 && <Empty title="No memories found" />}
      {found.data && found.data.length > 0 && (
        <>
          <p className="meta" role="status">
            {found.data.length} found
          </p>
          <VirtualList
            items={found.data}
            keyOf={(_, index) => String(index)}
            render={(entry) => <Entry entry={entry} />}
            height={72}
            measured
            focusable
            label="Memories"
            className="memories"
          />
        </>
      )}
    </div>
  );
}

function Entry({ entry: { author = '', content, timestamp } }: { readonly entry: MemoryEntry }) {
  const at = timestamp === undefined ? undefined : new Date(timestamp);
  return (
    <div className="memory-entry">
      <p className="row">
        <Author name={author} />
        {at && !Number.isNaN(at.getTime()) && <span className="meta">{at.toLocaleString()}</span>}
      </p>
      <p className="memory-text" dir="auto">
        {content.parts.map((part) => part.text ?? '').join(' ')}
      </p>
    </div>
  );
}
