import { Link } from '../../app/link.tsx';
import { to } from '../../app/location.ts';

interface CrumbsProps {
  readonly app: string;
  readonly set?: string;
}

/** Breadcrumbs: all sets of the app, and the set. */
export function Crumbs({ app, set }: CrumbsProps) {
  return (
    <nav className="row meta" aria-label="Evaluation breadcrumbs">
      <Link to={to('/apps/:app/evals', { app })}>Evaluations of {app}</Link>
      {set !== undefined && (
        <>
          <span aria-hidden>/</span>
          <Link to={to('/apps/:app/evals/:set', { app, set })}>{set}</Link>
        </>
      )}
    </nav>
  );
}
