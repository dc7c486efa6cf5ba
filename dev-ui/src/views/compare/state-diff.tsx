import type { State } from '../../api/sessions.ts';
import { isInternalKey } from '../../app/names.ts';

const mostShown = 200;

/** Keys whose values differ at the end. */
export function StateDiff({ left, right }: { readonly left: State; readonly right: State }) {
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((key) => !isInternalKey(key) && shown(left[key]) !== shown(right[key]))
    .toSorted();
  if (keys.length === 0) return null;
  return (
    <details className="compare-state">
      <summary>
        The state differs in {keys.length} {keys.length === 1 ? 'key' : 'keys'}
      </summary>
      <div className="compare-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Left</th>
              <th scope="col">Right</th>
            </tr>
          </thead>
          <tbody>
            {keys.slice(0, mostShown).map((key) => (
              <tr key={key}>
                <th scope="row" className="mono">
                  {key}
                </th>
                <td className="mono">{shown(left[key])}</td>
                <td className="mono">{shown(right[key])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
