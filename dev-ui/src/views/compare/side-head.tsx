import type { Session } from '../../api/sessions.ts';
import { Link } from '../../app/link.tsx';
import { metadataOf, sessionAddress, titleOf } from '../../app/names.ts';
import { addTokens, noTokens, tokensOf } from '../../log/turns.ts';
import { shownCount, shownTime } from '../../parts/numbers.ts';

interface SideHeadProps {
  readonly label: string;
  readonly session: Session | undefined;
  readonly sessions: readonly Session[];
  readonly id: string;
  readonly onChoose: (sessionId: string) => void;
}

/** The session of one side, with its totals. */
export function SideHead({ label, session, sessions, id, onChoose }: SideHeadProps) {
  const choices = sessions.some((one) => one.id === id) || !session ? sessions : [session, ...sessions];
  const tokens = (session?.events ?? []).reduce((sum, event) => addTokens(sum, tokensOf(event) ?? noTokens), noTokens);
  const change = session && metadataOf(session).change;
  return (
    <div className="stack">
      <select
        className="input"
        aria-label={`${label} session`}
        value={id}
        onChange={(event) => onChoose(event.target.value)}
      >
        {!choices.some((one) => one.id === id) && <option value={id}>{id}</option>}
        {choices.map((one) => (
          <option key={one.id} value={one.id}>
            {titleOf(one)} · {metadataOf(one).change ?? 'original'} · {shownTime(one.lastUpdateTime)}
          </option>
        ))}
      </select>
      {session && (
        <p className="meta">
          <Link to={sessionAddress({ appName: session.appName, userId: session.userId, sessionId: session.id })}>
            Open
          </Link>{' '}
          · {session.events.length} events · ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
          {change !== undefined && ` · ${change}`}
        </p>
      )}
    </div>
  );
}
