import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { readAgentGraph } from '../../api/extensions.ts';
import { useLogVersion, useWorkspaceVersion } from '../../app/current.ts';
import { useServes } from '../../app/served.ts';
import type { Workspace } from '../../app/workspace.ts';
import { late } from '../../parts/late.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { activityOf } from './activity.ts';
import { AgentDetails } from './agent-details.tsx';
import { AgentTree } from './agent-tree.tsx';
import './graph.css';

const LaidOut = late(async () => (await import('./laid-out.tsx')).LaidOut, 'Drawing');

/** With more agents a list is clearer than a drawing. */
const mostDrawn = 60;

interface AgentPanelProps {
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

/** The agents of an app, which of them ran in the selected turn, and their instructions. */
export function AgentPanel({ workspace, event }: AgentPanelProps) {
  const { appName } = workspace.key;
  const isServed = useServes('app-details');
  const graph = useQuery({
    queryKey: ['agent-graph', appName],
    queryFn: ({ signal }) => readAgentGraph(appName, signal),
    retry: false,
    enabled: isServed === true,
  });
  const version = useLogVersion(workspace);
  useWorkspaceVersion(workspace);
  const position = event && workspace.log.positionOf(event.id);
  const activity = useMemo(
    () => activityOf(workspace.log, position),
    // `version` stands for what is in the log
    [workspace, position, version],
  );
  const [view, setView] = useState<'graph' | 'list'>('graph');
  const [chosen, setChosen] = useState<string>();
  if (isServed === false) {
    return (
      <Empty title="This server does not serve agent details">
        Start it with <code>--surface app-details</code> to show the agents here.
      </Empty>
    );
  }
  if (graph.isPending) return <Loading label="Loading agents" />;
  if (graph.isError) return <Failure error={graph.error} onRetry={() => void graph.refetch()} />;
  const { nodes } = graph.data;
  const isTooLarge = nodes.length > mostDrawn;
  const author = event?.author === 'user' ? undefined : event?.author;
  const selected =
    nodes.find(({ id }) => id === chosen) ?? nodes.find(({ name }) => name === (author ?? graph.data.root)) ?? nodes[0];
  const shared = { graph: graph.data, activity, selected: selected?.id, onSelect: setChosen };
  return (
    <div className="stack">
      <div className="row">
        <h2 className="grow">
          {nodes.length} {nodes.length === 1 ? 'agent' : 'agents'}
        </h2>
        {nodes.length > 1 && !isTooLarge && (
          <button
            type="button"
            className="button small"
            aria-pressed={view === 'list'}
            onClick={() => setView(view === 'graph' ? 'list' : 'graph')}
          >
            Show as list
          </button>
        )}
      </div>
      {nodes.length > 1 && view === 'graph' && !isTooLarge && (
        <>
          <LaidOut {...shared} isRunning={workspace.run.status === 'running'} />
          <div className="visually-hidden">
            <AgentTree graph={graph.data} activity={activity} selected={selected?.id} />
          </div>
        </>
      )}
      {nodes.length > 1 && (view === 'list' || isTooLarge) && <AgentTree {...shared} />}
      {selected && <AgentDetails key={selected.id} node={selected} called={activity.tools.get(selected.name) ?? []} />}
    </div>
  );
}
