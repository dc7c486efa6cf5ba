import type { GraphNode } from '../../../../src/schemas/extensions.ts';
import { setQuery } from '../../app/location.ts';
import { VirtualList } from '../../parts/virtual-list.tsx';

interface AgentDetailsProps {
  readonly node: GraphNode;
  /** Tools it called in the selected turn. */
  readonly called: readonly string[];
}

const fewTools = 30;

/** The instruction and the tools of an agent. */
export function AgentDetails({ node, called }: AgentDetailsProps) {
  const { name, kind, model, description, instruction, tools } = node;
  return (
    <section className="stack" aria-label={`Agent ${name}`}>
      <div className="row">
        <h3 className="truncate">{name}</h3>
        <span className="badge">{kind}</span>
        {model !== undefined && <span className="meta truncate">{model}</span>}
        <span className="grow" />
        <button
          type="button"
          className="button small"
          onClick={() => setQuery({ q: `author:${name}`, view: undefined })}
        >
          Show events
        </button>
      </div>
      {description !== '' && <p className="secondary">{description}</p>}
      {instruction !== undefined && instruction !== '' && (
        <details open={instruction.length < 800}>
          <summary>Instruction</summary>
          <pre className="plain agent-instruction">{instruction}</pre>
        </details>
      )}
      {tools.length > 0 && (
        <details open>
          <summary>
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
          </summary>
          {tools.length <= fewTools ? (
            <ul className="agent-tools">
              {tools.map((tool) => (
                <li key={tool.name}>
                  <Tool tool={tool} isCalled={called.includes(tool.name)} />
                </li>
              ))}
            </ul>
          ) : (
            <VirtualList
              className="agent-tools many"
              label={`Tools of ${name}`}
              items={tools}
              keyOf={(tool, index) => `${index} ${tool.name}`}
              height={44}
              focusable
              render={(tool) => <Tool tool={tool} isCalled={called.includes(tool.name)} />}
            />
          )}
        </details>
      )}
    </section>
  );
}

function Tool({ tool, isCalled }: { readonly tool: GraphNode['tools'][number]; readonly isCalled: boolean }) {
  return (
    <div className="agent-tool">
      <div className="row">
        <code className="truncate">{tool.name}</code>
        {tool.kind !== 'tool' && <span className="badge">{tool.kind}</span>}
        {tool.asksFirst && <span className="badge">needs confirmation</span>}
        {tool.isLongRunning && <span className="badge">long-running</span>}
        {isCalled && <span className="badge tool-called">called</span>}
      </div>
      {tool.description !== '' && <p className="secondary truncate">{tool.description}</p>}
    </div>
  );
}
