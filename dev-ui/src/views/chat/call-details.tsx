import { Send } from 'lucide-react';
import { useState } from 'react';
import type { FunctionResponse } from '../../../../src/schemas/content.ts';
import { runWithArguments, runWithResult } from '../../app/branching.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { CallRow } from '../../log/rows.ts';
import { JsonField } from '../../parts/schema-form.tsx';
import { isObject, WhatIf } from './what-if.tsx';

interface CallDetailsProps {
  readonly row: CallRow;
  readonly workspace: Workspace;
}

/** What a call was made with and what came of it. Either can be changed: the run goes on from there in a fork. */
export function CallDetails({ row, workspace }: CallDetailsProps) {
  const { call, event, response, responseEvent, status } = row;
  const { id, name, args = {} } = call;
  const canEdit = id !== undefined && workspace.run.status !== 'running';
  return (
    <div className="call-details">
      <WhatIf
        title="Arguments"
        label={`Arguments of ${name}`}
        value={args}
        most={280}
        note="Calls the tool again, with what was called beside it, in a fork. This session stays as it is."
        onRun={canEdit ? (changed) => void runWithArguments(workspace, event, { id, name, args: changed }) : undefined}
      />
      {response && responseEvent ? (
        <WhatIf
          title="Result"
          label={`Result of ${name}`}
          value={response.response}
          most={360}
          note="Runs on in a fork as if the tool had answered this. What it wrote to the state stays; so does this session."
          onRun={
            canEdit && status !== 'waiting'
              ? (changed) => void runWithResult(workspace, responseEvent, { id, name, response: changed })
              : undefined
          }
        />
      ) : (
        <>
          <h3>Result</h3>
          {status === 'waiting' ? (
            <AnswerForm row={row} workspace={workspace} />
          ) : (
            <p className="secondary">None yet.</p>
          )}
        </>
      )}
    </div>
  );
}

/** Answers a call that waits for something outside: what the tool will have found out. */
function AnswerForm({ row: { call, event }, workspace }: CallDetailsProps) {
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
      <p className="secondary">This call is long-running. Enter its response here:</p>
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
