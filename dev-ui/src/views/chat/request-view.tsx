import { Check, KeyRound, MessageCircleQuestion, ShieldQuestion, X } from 'lucide-react';
import { useState } from 'react';
import type { Workspace } from '../../app/workspace.ts';
import type { RequestRow } from '../../log/rows.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { shownTime } from '../../parts/numbers.ts';
import { JsonField, SchemaForm } from '../../parts/schema-form.tsx';
import type { Schema } from '../../parts/schema.ts';
import { startingValue } from '../../parts/schema.ts';
import { argsLine } from './call-line.ts';
import { CredentialForm } from './credential-form.tsx';
import { answerRequest, approveWith, originalCall, question } from './requests.ts';
import { WhatIf } from './what-if.tsx';

interface RequestViewProps {
  readonly row: RequestRow;
  readonly workspace: Workspace;
}

const icons = { confirmation: ShieldQuestion, input: MessageCircleQuestion, credential: KeyRound };

/** A request to the user as a card: the question, a form to answer it, and afterwards the answer. */
export function RequestView({ row, workspace }: RequestViewProps) {
  const Icon = icons[row.request];
  return (
    <div className="request-card" data-answered={row.answer !== undefined} id={`request-${row.call.id}`}>
      <p className="request-title">
        <Icon size={16} aria-hidden /> <span>{question(row)}</span>
      </p>
      {row.answer ? <Answered row={row} /> : <Form row={row} workspace={workspace} />}
    </div>
  );
}

function Form({ row, workspace }: RequestViewProps) {
  if (row.request === 'confirmation') return <Confirmation row={row} workspace={workspace} />;
  if (row.request === 'credential') return <CredentialForm row={row} workspace={workspace} />;
  return <Input row={row} workspace={workspace} />;
}

function Answered({ row: { answer, answerEvent, request } }: { row: RequestRow }) {
  const confirmed = answer?.response['confirmed'];
  const reason = answer?.response['reason'];
  const verdict = request !== 'confirmation' ? 'Answered' : confirmed === true ? 'Approved' : 'Rejected';
  return (
    <div className="stack">
      <p className={`verdict ${verdict.toLowerCase()}`}>
        {verdict === 'Rejected' ? <X size={14} aria-hidden /> : <Check size={14} aria-hidden />} {verdict} by you
        {answerEvent && <span className="meta"> {shownTime(answerEvent.timestamp)}</span>}
        {typeof reason === 'string' && reason !== '' && <span>: {reason}</span>}
      </p>
      {request === 'input' && <JsonTree value={answer?.response} label="Response" most={160} />}
    </div>
  );
}

function Confirmation({ row, workspace }: RequestViewProps) {
  const original = originalCall(row);
  const { payload: asked } = (row.call.args?.['toolConfirmation'] ?? {}) as { payload?: unknown };
  const [payload, setPayload] = useState(asked);
  const [reason, setReason] = useState('');
  const busy = workspace.run.status === 'running';
  const answer = (confirmed: boolean): void =>
    answerRequest(workspace, row, {
      confirmed,
      ...(payload !== undefined && { payload }),
      ...(!confirmed && reason !== '' && { reason }),
    });
  return (
    <div className="stack">
      <p className="request-call mono">
        {original.name}({argsLine(original.args)})
      </p>
      <WhatIf
        title="Arguments"
        label={`Arguments of ${original.name}`}
        value={original.args ?? {}}
        most={200}
        note="Approves the changed call in a fork. This session keeps waiting for your response."
        action="Approve with these arguments"
        onRun={
          busy || original.id === undefined ? undefined : (changed) => void approveWith(workspace, row, changed) // tells its failures
        }
      >
        {asked !== undefined && (
          <label className="field">
            <span>Payload of the confirmation</span>
            <JsonField label="Payload of the confirmation" value={asked} rows={4} onChange={setPayload} />
          </label>
        )}
        <div className="row wrap">
          <button type="button" className="button primary" disabled={busy} onClick={() => answer(true)}>
            <Check size={14} aria-hidden /> Approve
          </button>
          <button type="button" className="button danger" disabled={busy} onClick={() => answer(false)}>
            <X size={14} aria-hidden /> Reject
          </button>
          <input
            className="input grow"
            aria-label="Reason for rejection"
            placeholder="Reason for rejection (optional)"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </div>
      </WhatIf>
    </div>
  );
}

function Input({ row, workspace }: RequestViewProps) {
  const args = row.call.args ?? {};
  const schema = (args['response_schema'] ?? args['responseSchema']) as Schema | undefined;
  const [value, setValue] = useState<unknown>(schema ? startingValue(schema) : { result: '' });
  const isText = !schema?.properties;
  const busy = workspace.run.status === 'running';
  const text = (value as { result?: unknown } | undefined)?.result;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (value !== undefined) answerRequest(workspace, row, value as Record<string, unknown>);
      }}
    >
      {args['payload'] !== undefined && <JsonTree value={args['payload']} label="Payload of the request" most={200} />}
      {isText ? (
        <textarea
          className="input"
          aria-label="Your response"
          rows={2}
          value={typeof text === 'string' ? text : ''}
          onChange={(event) => setValue({ result: event.target.value })}
        />
      ) : (
        <SchemaForm label="Your response" schema={schema} value={value} onChange={setValue} />
      )}
      <p>
        <button type="submit" className="button primary" disabled={busy || value === undefined}>
          Answer
        </button>
      </p>
    </form>
  );
}
