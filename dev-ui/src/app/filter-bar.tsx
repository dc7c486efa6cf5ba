import { Filter as FilterIcon, X } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { createPortal } from 'react-dom';
import { term, termsOf } from '../log/filter.ts';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { useLogVersion } from './current.ts';
import { setQuery, useLocation } from './location.ts';
import type { Workspace } from './workspace.ts';

const kinds = { user: 'Messages', text: 'Answers', call: 'Tool calls', request: 'Requests', transfer: 'Transfers' };

/** Which rows of the conversation to show: words and chips, kept in the address. */
export function FilterBar({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const text = useLocation().query.get('q') ?? '';
  const [typed, setTyped] = useState('');
  const terms = termsOf(text);
  const change = (next: readonly string[]): void => setQuery({ q: next.join(' ') });
  const add = (one: string): void => change([...terms.filter((other) => other !== one), one]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && typed.trim() !== '') {
      change([...terms, ...termsOf(typed)]);
      setTyped('');
    } else if (event.key === 'Backspace' && typed === '') change(terms.slice(0, -1));
    else if (event.key === 'Escape') (event.target as HTMLElement).blur();
  };
  const item = (label: string, one: string): MenuItem => ({ label, run: () => add(one) });
  const { byAuthor, byTool } = workspace.log;
  const place = document.querySelector('#centre-tools');
  if (!place) return null;
  return createPortal(
    <div className="filter" role="search">
      {terms.map((one) => (
        <button
          key={one}
          type="button"
          className="chip"
          aria-label={`Remove filter ${one}`}
          onClick={() => change(terms.filter((other) => other !== one))}
        >
          <span className="truncate">{one}</span> <X size={12} aria-hidden />
        </button>
      ))}
      <input
        id="filter"
        className="filter-input"
        aria-label="Filter events"
        placeholder={terms.length === 0 ? 'Filter events' : ''}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Menu
        label="Filters"
        button={<FilterIcon size={14} aria-hidden />}
        items={[
          item('Errors only', 'is:error'),
          item('State changes', 'is:state'),
          'line',
          ...Object.entries(kinds).map(([kind, label]) => item(label, term('kind', kind))),
          'line',
          ...[...byAuthor.keys()].slice(0, 20).map((author) => item(`By ${author}`, term('author', author))),
          ...[...byTool.keys()].slice(0, 20).map((tool) => item(`Tool ${tool}`, term('tool', tool))),
        ]}
      />
    </div>,
    place,
  );
}
