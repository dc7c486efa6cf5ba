import { Check, CircleAlert, CircleDashed, Clock, LoaderCircle, Wrench } from 'lucide-react';
import { metadataOf } from '../../app/names.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { CallRow, CallStatus } from '../../log/rows.ts';
import { thrownByCall } from '../../log/thrown.ts';
import { shownDuration } from '../../parts/numbers.ts';
import { ThrownError } from '../../parts/thrown-error.tsx';
import { CallDetails } from './call-details.tsx';
import { argsLine, resultLine } from './call-line.ts';

interface CallViewProps {
  readonly row: CallRow;
  readonly workspace: Workspace;
  readonly open: boolean;
  readonly onToggle: () => void;
}

const words: Readonly<Record<CallStatus, string>> = {
  running: 'running',
  waiting: 'waiting for a response',
  ok: 'done',
  error: 'failed',
};

/** A call and its result in one line; expanded, both as trees that can be changed. */
export function CallView({ row, workspace, open, onToggle }: CallViewProps) {
  const { call, response, status, event, responseEvent } = row;
  const yours = yoursIn(row, workspace);
  const isWaiting = status === 'waiting';
  const ms = responseEvent && !yours && !isWaiting ? (responseEvent.timestamp - event.timestamp) * 1_000 : undefined;
  const thrown = thrownByCall(call.id, responseEvent);
  const isLost = status === 'running' && workspace.run.status !== 'running';
  return (
    <div className="call" data-status={status}>
      <button type="button" className="call-line" aria-expanded={open} onClick={onToggle}>
        <Wrench size={14} aria-hidden className="call-icon" />
        <span className="call-text">
          <span className="call-name">{call.name}</span>
          <span className="call-args">({argsLine(call.args)})</span>
          {response && !isWaiting && <span className="call-result"> → {resultLine(response)}</span>}
        </span>
        <span className="call-end meta">
          {yours ? <span className="badge">{yours}</span> : ms !== undefined && shownDuration(ms)}
          <StatusIcon status={isLost ? 'lost' : status} />
          <span className={status === 'ok' ? 'visually-hidden' : ''}>{isLost ? 'no response' : words[status]}</span>
        </span>
      </button>
      {thrown && (
        <div className="call-thrown">
          <ThrownError {...thrown} />
        </div>
      )}
      {open && <CallDetails row={row} workspace={workspace} />}
    </div>
  );
}

/** Names the part of a call that comes from the user; empty when none does. */
function yoursIn({ call, responseEvent }: CallRow, { log }: Workspace): string {
  const change = metadataOf(log).changedCalls?.[call.id ?? ''];
  if (change) return change === 'result' ? 'your result' : 'your arguments';
  return responseEvent?.author === 'user' ? 'your response' : '';
}

function StatusIcon({ status }: { status: CallStatus | 'lost' }) {
  if (status === 'lost') return <CircleDashed size={14} aria-hidden />;
  if (status === 'ok') return <Check size={14} className="ok-text" aria-hidden />;
  if (status === 'error') return <CircleAlert size={14} className="error-text" aria-hidden />;
  if (status === 'waiting') return <Clock size={14} className="state-text" aria-hidden />;
  return <LoaderCircle size={14} className="spin" aria-hidden />;
}
