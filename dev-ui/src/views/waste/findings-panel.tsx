import {
  CircleAlert,
  CircleDollarSign,
  CircleOff,
  Gauge,
  Repeat,
  RotateCw,
  Timer,
  type LucideIcon,
} from 'lucide-react';
import { useMemo, useState } from 'react';
import { useLogVersion, useWorkspaceVersion } from '../../app/current.ts';
import { Link } from '../../app/link.tsx';
import { withQuery } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Empty } from '../../parts/states.tsx';
import { type Finding, type FindingKind, findingsIn } from './findings.ts';
import './waste.css';

const icons: Readonly<Record<FindingKind, LucideIcon>> = {
  repeat: Repeat,
  circle: RotateCw,
  unused: CircleOff,
  full: Gauge,
  slow: Timer,
  dear: CircleDollarSign,
  failed: CircleAlert,
};
const mostLinks = 12;

/** Findings of the session: loops and waste, each with a link to its events. */
export function FindingsPanel({ workspace }: { readonly workspace: Workspace }) {
  const version = useLogVersion(workspace);
  useWorkspaceVersion(workspace);
  const isRunning = workspace.run.status === 'running';
  // During a run every event would trigger a new analysis of all events.
  const findings = useMemo(
    () => (isRunning ? undefined : findingsIn(workspace.log.events)),
    // `version` stands for what is in the log
    [workspace, version, isRunning],
  );
  return (
    <div className="stack">
      <h2>Loops and waste</h2>
      {!findings && <p className="secondary">The session is analysed when the run ends.</p>}
      {findings?.length === 0 && (
        <Empty title="No findings">
          Repeated calls, loops, errors, unused results, and slow or expensive events are listed here.
        </Empty>
      )}
      {findings && findings.length > 0 && (
        <ul className="findings">
          {findings.map((finding, index) => (
            <FindingView key={index} finding={finding} workspace={workspace} />
          ))}
        </ul>
      )}
    </div>
  );
}

function FindingView({ finding, workspace }: { readonly finding: Finding; readonly workspace: Workspace }) {
  const [isOpen, setOpen] = useState(false);
  const { kind, title, detail, events } = finding;
  const Icon = icons[kind];
  const shown = isOpen ? events : events.slice(0, mostLinks);
  return (
    <li className="finding" data-kind={kind}>
      <p className="row">
        <Icon size={16} aria-hidden className="finding-icon" />
        <span className="finding-title">{title}</span>
      </p>
      <p className="secondary">{detail}</p>
      <p className="finding-links meta">
        {shown.map((event) => (
          <Link key={event.id} to={withQuery({ e: event.id, t: undefined })}>
            event {(workspace.log.positionOf(event.id) ?? 0) + 1}
          </Link>
        ))}
        {events.length > shown.length && (
          <button type="button" className="button small" onClick={() => setOpen(true)}>
            {events.length - shown.length} more
          </button>
        )}
      </p>
    </li>
  );
}
