import { useState } from 'react';
import type { Content, FunctionCall } from '../../../../src/schemas/content.ts';
import type { EvalMetricResult } from '../../../../src/schemas/evaluation/eval-metric.ts';
import type { EvalCaseResult, EvalMetricResultPerInvocation } from '../../../../src/schemas/evaluation/eval-result.ts';
import type { Invocation } from '../../../../src/schemas/evaluation/eval-set.ts';
import { navigate } from '../../app/location.ts';
import { sessionAddress } from '../../app/names.ts';
import { metricLabel, OutcomeBadge, outcomeOf, outcomeOfStatus, reasonsOf, scoreText } from './outcome.tsx';

interface CaseResultProps {
  readonly app: string;
  readonly result: EvalCaseResult;
  readonly isOpen: boolean;
}

/** One case of a run: each turn with expected and actual outcome, and reasons. */
export function CaseResult({ app, result, isOpen }: CaseResultProps) {
  const outcome = outcomeOf(result);
  const [open, setOpen] = useState(isOpen);
  const { evalId, repetition = 1, overallEvalMetricResults, evalMetricResultPerInvocation, errorMessage } = result;
  return (
    <details className="case-result" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <OutcomeBadge outcome={outcome} />
        <span className="grow truncate">
          {evalId}
          {repetition > 1 && <span className="meta"> repetition {repetition}</span>}
        </span>
        {overallEvalMetricResults.map(({ metricName, score }) => (
          <span key={metricName} className="meta">
            {metricLabel(metricName)} {scoreText(score)}
          </span>
        ))}
      </summary>
      {open && (
        <div className="stack">
          {errorMessage !== undefined && (
            <p className="notice error error-text" role="alert">
              {errorMessage}
            </p>
          )}
          {evalMetricResultPerInvocation.map((turn, index) => (
            <Turn key={index} number={index + 1} turn={turn} onOpen={() => openEvalSession(app, result, turn)} />
          ))}
        </div>
      )}
    </details>
  );
}

interface TurnProps {
  readonly number: number;
  readonly turn: EvalMetricResultPerInvocation;
  readonly onOpen: () => void;
}

function Turn({ number, turn, onOpen }: TurnProps) {
  const { actualInvocation: actual, expectedInvocation: expected, evalMetricResults } = turn;
  return (
    <section className="turn-card" aria-label={`Turn ${number}`}>
      <header className="row">
        <h3 className="grow">
          Turn {number}: {textOf(actual.userContent)}
        </h3>
        {actual.invocationId !== '' && (
          <button type="button" className="button small" onClick={onOpen}>
            Open session
          </button>
        )}
      </header>
      <div className="sides">
        {expected && <Side title="Expected" turn={expected} />}
        <Side title="Actual" turn={actual} />
      </div>
      <div className="verdicts">
        {evalMetricResults.map((metric) => (
          <Verdict key={metric.metricName} metric={metric} />
        ))}
      </div>
    </section>
  );
}

function Side({ title, turn }: { readonly title: string; readonly turn: Invocation }) {
  const calls = callsOf(turn);
  return (
    <div className="side">
      <h4>{title}</h4>
      {calls.map((call, index) => (
        <p key={index} className="mono">
          {call.name}({JSON.stringify(call.args ?? {})})
        </p>
      ))}
      <p>{textOf(turn.finalResponse) || <span className="meta">no response</span>}</p>
    </div>
  );
}

function Verdict({ metric }: { readonly metric: EvalMetricResult }) {
  const { metricName, score, threshold, evalStatus } = metric;
  return (
    <div className="verdict">
      <OutcomeBadge outcome={outcomeOfStatus(evalStatus)} />
      <span>
        {metricLabel(metricName)} {scoreText(score)}
        {threshold !== undefined && <span className="meta"> (threshold {scoreText(threshold)})</span>}
      </span>
      {reasonsOf(metric).map((reason) => (
        <span key={reason} className="reason secondary">
          {reason}
        </span>
      ))}
    </div>
  );
}

export const textOf = (content: Content | undefined): string =>
  (content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');

/** The calls of a turn, in either of ADK's two forms. */
export function callsOf({ intermediateData }: Invocation): readonly FunctionCall[] {
  const parts = (intermediateData?.invocationEvents ?? []).flatMap(({ content }) => content?.parts ?? []);
  return intermediateData?.toolUses ?? parts.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
}

/** Opens the session of an evaluated case at the end of a turn. */
function openEvalSession(
  app: string,
  { sessionId, userId = 'user', sessionDetails }: EvalCaseResult,
  { actualInvocation: { invocationId } }: EvalMetricResultPerInvocation,
): void {
  const last = sessionDetails?.events.findLast((event) => event.invocationId === invocationId);
  navigate(sessionAddress({ appName: app, userId, sessionId }, last ? { e: last.id } : {}));
}
