import type { ReactNode } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { Cost } from '../../app/cost.tsx';
import { useLogVersion } from '../../app/current.ts';
import { contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import { isInternalKey } from '../../log/internal-keys.ts';
import { thrownIn } from '../../log/thrown.ts';
import { tokensOf } from '../../log/turns.ts';
import { Author } from '../../parts/author.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { shownCount, shownDay, shownDuration, shownTime } from '../../parts/numbers.ts';
import { ThrownError } from '../../parts/thrown-error.tsx';
import './inspect.css';

interface OverviewProps {
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

const commands = contributionsOf('command').filter(({ place }) => place === 'event');

/** What an event is, did and used, and the commands that apply to it. */
export function Overview({ workspace, event }: OverviewProps) {
  useLogVersion(workspace);
  if (!event) return null;
  const { log } = workspace;
  const index = log.positionOf(event.id) ?? 0;
  const before = log.events[index - 1];
  const tokens = tokensOf(event);
  const { actions } = event;
  const state = Object.entries(actions.stateDelta).filter(([key]) => !isInternalKey(key));
  const context = { workspace, event };
  return (
    <div className="stack">
      <div className="row wrap">
        {commands
          .filter((command) => command.applies?.(context) ?? true)
          .map((command) => {
            const { id, label, keys, icon: Icon } = command;
            return (
              <button
                key={id}
                type="button"
                className="button small"
                title={keys === undefined ? label : `${label} (${keys})`}
                onClick={() => void command.run(context)}
              >
                {Icon && <Icon size={12} aria-hidden />} {label}
              </button>
            );
          })}
      </div>
      <dl className="facts">
        <Fact name="Author">
          <Author name={event.author} />
        </Fact>
        <Fact name="Time">
          {shownDay(event.timestamp)} {shownTime(event.timestamp)}
          {before && ` · ${shownDuration((event.timestamp - before.timestamp) * 1_000)} after the previous event`}
        </Fact>
        <Fact name="Position">
          event {index + 1} of {log.events.length}
          {log.isRewound(index) && ', rewound'}
        </Fact>
        {event.modelVersion !== undefined && <Fact name="Model">{event.modelVersion}</Fact>}
        {tokens && (
          <Fact name="Tokens">
            {shownCount(tokens.input)} in
            {tokens.cached > 0 && ` (${shownCount(tokens.cached)} cached)`}, {shownCount(tokens.output)} out{' '}
            <Cost byModel={{ [event.modelVersion ?? '']: tokens }} />
          </Fact>
        )}
        {event.finishReason !== undefined && <Fact name="Finish reason">{event.finishReason}</Fact>}
        {event.interrupted && <Fact name="Interrupted">by the user</Fact>}
        {event.errorCode !== undefined && (
          <Fact name="Error">
            <span className="error-text">{event.errorCode}</span>
          </Fact>
        )}
        {event.errorMessage !== undefined && (
          <Fact name="Message">
            <ThrownError {...thrownIn(event)} />
          </Fact>
        )}
        {event.branch !== undefined && <Fact name="Agent path">{event.branch.replaceAll('.', ' › ')}</Fact>}
        {actions.transferToAgent !== undefined && <Fact name="Transfers to">{actions.transferToAgent}</Fact>}
        {Object.entries(actions.artifactDelta).map(([name, version]) => (
          <Fact key={name} name="Artifact">
            {name}, version {version}
          </Fact>
        ))}
        <Fact name="Event ID">
          <code>{event.id}</code>
        </Fact>
        <Fact name="Run ID">
          <code>{event.invocationId}</code>
        </Fact>
      </dl>
      {state.length > 0 && (
        <section className="stack">
          <h2>State changes</h2>
          <JsonTree value={Object.fromEntries(state)} label="State changes" openTo={2} />
        </section>
      )}
      {event.groundingMetadata && (
        <section className="stack">
          <h2>Sources</h2>
          <JsonTree value={event.groundingMetadata} label="Sources" />
        </section>
      )}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
