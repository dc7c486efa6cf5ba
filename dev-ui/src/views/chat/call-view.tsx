import { Check, CircleAlert, CircleDashed, Clock, LoaderCircle, Pencil, Send, Wrench } from 'lucide-react';
import { useState } from 'react';
import type { FunctionResponse } from '../../../../src/schemas/content.ts';
import { runWithResult } from '../../app/branching.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { CallRow, CallStatus } from '../../log/rows.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { shownDuration } from '../../parts/numbers.ts';
import { JsonField } from '../../parts/schema-form.tsx';
import { argsLine, resultLine } from './call-line.ts';

interface CallViewProps {
  readonly row: CallRow;
  readonly workspace: Workspace;
  readonly open: boolean;
  readonly onToggle: () => void;
}

const words: Readonly<Record<CallStatus, string>> = {
  running: 'running',
  waiting: 'waiting for an answer',
  ok: 'answered',
  error: 'failed',
};

/** A call and its result as one line; opened, both as trees, and the result can be changed. */
export function CallView({ row, workspace, open, onToggle }: CallViewProps) {
  const { call, response, status, event, responseEvent } = row;
  const isYours = responseEvent?.author === 'user';
  const ms = responseEvent && !isYours ? (responseEvent.timestamp - event.timestamp) * 1_000 : undefined;
  const isLost = status === 'running' && workspace.run.status !== 'running';
  return (
    <div className="call" data-status={status}>
      <button type="button" className="call-line" aria-expanded={open} onClick={onToggle}>
        <Wrench size={14} aria-hidden className="call-icon" />
        <span className="call-text">
          <span className="call-name">{call.name}</span>
          <span className="call-args">({argsLine(call.args)})</span>
          {response && <span className="call-result"> → {resultLine(response)}</span>}
        </span>
        <span className="call-end meta">
          {isYours ? <span className="badge">your result</span> : ms !== undefined && shownDuration(ms)}
          <StatusIcon status={isLost ? 'lost' : status} />
          <span className={status === 'ok' ? 'visually-hidden' : ''}>{isLost ? 'no answer' : words[status]}</span>
        </span>
      </button>
      {open && <CallDetails row={row} workspace={workspace} />}
    </div>
  );
}

function StatusIcon({ status }: { status: CallStatus | 'lost' }) {
  if (status === 'lost') return <CircleDashed size={14} aria-hidden />;
  if (status === 'ok') return <Check size={14} className="ok-text" aria-hidden />;
  if (status === 'error') return <CircleAlert size={14} className="error-text" aria-hidden />;
  if (status === 'waiting') return <Clock size={14} className="state-text" aria-hidden />;
  return <LoaderCircle size={14} className="spin" aria-hidden />;
}

function CallDetails({ row, workspace }: { row: CallRow; workspace: Workspace }) {
  const { call, response, status } = row;
  const [editing, setEditing] = useState(false);
  const canEdit = call.id !== undefined && workspace.run.status !== 'running';
  return (
    <div className="call-details">
      <h3>Arguments</h3>
      <JsonTree value={call.args ?? {}} label={`Arguments of ${call.name}`} most={280} />
      <div className="row">
        <h3 className="grow">Result</h3>
        {response && canEdit && !editing && (
          <button type="button" className="button small" onClick={() => setEditing(true)}>
            <Pencil size={12} aria-hidden /> Change the result
          </button>
        )}
      </div>
      {response && !editing && <JsonTree value={response.response} label={`Result of ${call.name}`} most={360} />}
      {response && editing && (
        <ResultEditor row={row} workspace={workspace} response={response} onDone={() => setEditing(false)} />
      )}
      {!response && status === 'waiting' && <AnswerForm row={row} workspace={workspace} />}
      {!response && status !== 'waiting' && <p className="secondary">None yet.</p>}
    </div>
  );
}

interface ResultEditorProps {
  readonly row: CallRow;
  readonly workspace: Workspace;
  readonly response: FunctionResponse;
  readonly onDone: () => void;
}

function ResultEditor({ row, workspace, response, onDone }: ResultEditorProps) {
  const [value, setValue] = useState<unknown>(response.response);
  const run = (): void => {
    onDone();
    void runWithResult(workspace, row.event, { ...response, response: value as Record<string, unknown> });
  };
  return (
    <div className="stack">
      <JsonField label={`Result of ${row.call.name}`} value={response.response} rows={8} onChange={setValue} />
      <p className="meta">Runs on in a fork as if the tool had answered this. This session stays as it is.</p>
      <div className="row">
        <button type="button" className="button small primary" disabled={!isObject(value)} onClick={run}>
          Run on in a fork
        </button>
        <button type="button" className="button small" onClick={onDone}>
          Cancel
        </button>
      </div>
    </div>
  );
}

/** Answers a call that waits for something outside: what the tool will have found out. */
function AnswerForm({ row: { call, event }, workspace }: { row: CallRow; workspace: Workspace }) {
  const [value, setValue] = useState<unknown>({ result: '' });
  const send = (): void => {
    const response = isObject(value) ? value : { result: value };
    const functionResponse: FunctionResponse = {
      name: call.name,
      response,
      ...(call.id !== undefined && { id: call.id }),
    };
    void workspace.send({ role: 'user', parts: [{ functionResponse }] }, { functionCallEventId: event.id });
  };
  return (
    <div className="stack">
      <p className="secondary">This tool answers later. Give its answer here:</p>
      <JsonField label={`Answer of ${call.name}`} value={{ result: '' }} rows={4} onChange={setValue} />
      <p>
        <button
          type="button"
          className="button small primary"
          disabled={value === undefined || workspace.run.status === 'running'}
          onClick={send}
        >
          <Send size={12} aria-hidden /> Answer
        </button>
      </p>
    </div>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
