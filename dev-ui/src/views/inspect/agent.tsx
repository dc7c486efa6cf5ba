import { useQuery } from '@tanstack/react-query';
import { type AgentDetails, readApp } from '../../api/apps.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Empty, Loading } from '../../parts/states.tsx';
import { Section } from './section.tsx';
import './inspect.css';

/** The agents of the app: what they are told and what they may call. */
export function Agent({ workspace }: { readonly workspace: Workspace }) {
  const { appName } = workspace.key;
  const app = useQuery({ queryKey: ['app', appName], queryFn: ({ signal }) => readApp(appName, signal) });
  if (app.isPending) return <Loading label="Reading the app" />;
  if (app.isError) return <Empty title="Nothing more is known about this app">{app.error.message}</Empty>;
  const agents = Object.values(app.data.agents);
  return (
    <div className="stack">
      {app.data.description !== '' && <p className="secondary">{app.data.description}</p>}
      {agents.map((agent, index) => (
        <AgentSection key={agent.name} agent={agent} open={index === 0} />
      ))}
    </div>
  );
}

function AgentSection({ agent, open }: { agent: AgentDetails; open: boolean }) {
  const tools = agent.tools.flatMap((tool) => tool.functionDeclarations);
  const note = agent.sub_agents.length > 0 ? `hands over to ${agent.sub_agents.join(', ')}` : '';
  return (
    <Section title={agent.name} note={note} open={open}>
      <div className="stack">
        {agent.instruction !== '' && (
          <>
            <h3>Instruction</h3>
            <pre className="plain">{agent.instruction}</pre>
          </>
        )}
        {tools.length > 0 && (
          <>
            <h3>Tools</h3>
            <ul className="tool-list">
              {tools.map(({ name, description = '' }) => (
                <li key={name}>
                  <code>{name}</code> <span className="secondary">{description}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Section>
  );
}
