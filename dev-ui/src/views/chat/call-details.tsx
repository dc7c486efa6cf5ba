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

/** The arguments and the result of a call. Either can be changed: a fork resumes the run from there. */
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
        note="Runs this call and its parallel calls again in a fork. This session does not change."
        onRun={canEdit ? (changed) => void runWithArguments(workspace, event, { id, name, args: changed }) : undefined}
      />
      {response && responseEvent ? (
        <WhatIf
          title="Result"
          label={`Result of ${name}`}
          value={response.response}
          most={360}
          note="Resumes the run in a fork as if the tool had returned this. The state that the tool wrote stays. This session does not change."
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
            <p className="secondary">No result yet.</p>
          )}
        </>
      )}
    </div>
  );
}

/** Answers a long-running call with the response that the application would send. */
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
      <JsonField label={`Response of ${call.name}`} value={{ result: '' }} rows={4} onChange={setValue} />
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
