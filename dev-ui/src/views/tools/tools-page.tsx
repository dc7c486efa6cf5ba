import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { AppTool } from '../../../../src/schemas/extensions.ts';
import { listTools, readCapabilities } from '../../api/extensions.ts';
import { setQuery, useLocation } from '../../app/location.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { ToolTrial } from './tool-trial.tsx';
import './tools.css';

const rowHeight = 52;

/** The tools of an app, with their parameters and a form to run one alone. */
export function ToolsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const app = params['app'] ?? '';
  const { query } = useLocation();
  const [filter, setFilter] = useState('');
  const tools = useQuery({
    queryKey: ['tools', app],
    queryFn: ({ signal }) => listTools(app, signal),
    retry: false,
  });
  const capabilities = useQuery({ queryKey: ['capabilities'], queryFn: ({ signal }) => readCapabilities(signal) });
  const shown = useMemo(() => {
    const word = filter.trim().toLowerCase();
    return (tools.data ?? []).filter(({ agent, name, description }) =>
      `${agent} ${name} ${description}`.toLowerCase().includes(word),
    );
  }, [tools.data, filter]);
  const chosen =
    tools.data?.find(({ agent, name }) => agent === query.get('agent') && name === query.get('tool')) ?? shown[0];
  return (
    <div className="tools">
      <section className="tools-list" aria-label="Tools">
        <div className="tools-head stack">
          <h1>Tools of {app}</h1>
          <input
            type="search"
            className="input"
            aria-label="Search tools"
            placeholder="Search tools"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </div>
        {tools.isPending && <Loading label="Loading tools" />}
        {tools.isError && <Failure error={tools.error} onRetry={() => void tools.refetch()} />}
        {tools.data && shown.length === 0 && (
          <Empty title={filter === '' ? 'This app has no tools' : 'No matching tools'} />
        )}
        {shown.length > 0 && (
          <VirtualList
            className="tools-items"
            label="Tools"
            items={shown}
            keyOf={({ agent, name }, index) => `${index} ${agent} ${name}`}
            height={rowHeight}
            render={(tool) => <ToolLine tool={tool} isChosen={tool === chosen} />}
          />
        )}
      </section>
      {chosen && (
        <ToolTrial
          key={`${chosen.agent} ${chosen.name}`}
          app={app}
          tool={chosen}
          canRun={capabilities.data?.features.includes('run-tool') ?? false}
        />
      )}
    </div>
  );
}

function ToolLine({ tool, isChosen }: { readonly tool: AppTool; readonly isChosen: boolean }) {
  return (
    <button
      type="button"
      className="tools-item"
      aria-pressed={isChosen}
      onClick={() => setQuery({ agent: tool.agent, tool: tool.name }, { replace: true })}
    >
      <span className="row">
        <code className="truncate">{tool.name}</code>
        <span className="meta truncate">{tool.agent}</span>
      </span>
      <span className="secondary truncate">{tool.description}</span>
    </button>
  );
}
