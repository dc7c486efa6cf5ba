import type { SessionOwner } from '../../../../src/schemas/session.ts';
import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';
import { sessionAddress } from '../../app/names.ts';
import { shownCount, shownDuration } from '../../parts/numbers.ts';
import type { Outcome } from './repeat.ts';

interface OutcomesProps {
  readonly owner: SessionOwner;
  /** The session the message is from. */
  readonly origin: string;
  readonly outcomes: readonly Outcome[];
}

const toolsIn = ({ tools }: Outcome): string => tools.join(' → ');
const differing = (values: readonly string[]): string[] => [...new Set(values)];
const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

/** The outcome of each run, and how many different ones there are. */
export function Outcomes({ owner, origin, outcomes }: OutcomesProps) {
  const over = outcomes.filter(({ status }) => status === 'done' || status === 'failed');
  const answers = differing(over.map(({ answer }) => answer));
  const ways = differing(over.map(toolsIn));
  const failed = over.filter(({ status }) => status === 'failed').length;
  return (
    <>
      <p role="status">
        <strong>
          {over.length} of {outcomes.length} done
        </strong>
        {over.length > 0 &&
          `: ${counted(answers.length, 'answer', 'different answers')}, ${counted(ways.length, 'tool sequence', 'tool sequences')}, ${failed} failed`}
      </p>
      <div className="repeat-scroll" tabIndex={0} role="group" aria-label="Outcomes">
        <table className="repeat-table">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Answer</th>
              <th scope="col">Tools</th>
              <th scope="col">Tokens</th>
              <th scope="col">Time</th>
              <th scope="col">Session</th>
            </tr>
          </thead>
          <tbody>
            {outcomes.map((outcome) => (
              <tr key={outcome.number} data-status={outcome.status}>
                <th scope="row">{outcome.number}</th>
                <td className="repeat-answer" dir="auto">
                  {answers.length > 1 && answers.includes(outcome.answer) && (
                    <span className="badge">{letterOf(answers.indexOf(outcome.answer))}</span>
                  )}{' '}
                  {outcome.status === 'done' ? outcome.answer : `${outcome.status} ${outcome.answer}`}
                </td>
                <td className="mono">{toolsIn(outcome) || '–'}</td>
                <td>{shownCount(outcome.tokens)}</td>
                <td>{outcome.status === 'waiting' ? '' : shownDuration(outcome.ms)}</td>
                <td>
                  {outcome.sessionId !== undefined && <Links owner={owner} origin={origin} id={outcome.sessionId} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Links({ owner, origin, id }: { readonly owner: SessionOwner; readonly origin: string; readonly id: string }) {
  const { appName: app, userId: user } = owner;
  return (
    <>
      <Link to={sessionAddress({ ...owner, sessionId: id })}>Open</Link>{' '}
      <Link to={to('/apps/:app/u/:user/s/:a/compare/:b', { app, user, a: origin, b: id })}>Compare</Link>
    </>
  );
}

/** A, B, C … for answers that are the same. */
const letterOf = (index: number): string => (index < 26 ? String.fromCodePoint(65 + index) : String(index + 1));
