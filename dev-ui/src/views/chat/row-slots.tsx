import { componentOf, contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Row } from '../../log/rows.ts';

const slots = contributionsOf('slot').filter(({ slot }) => slot === 'row');

/** What other views add below a row. */
export function RowSlots({ row, workspace }: { readonly row: Row; readonly workspace: Workspace }) {
  const wanted = slots.filter((slot) => slot.applies?.(row) ?? true);
  if (wanted.length === 0) return null;
  return wanted.map((slot) => {
    const Slot = componentOf(slot);
    return <Slot key={slot.order} row={row} workspace={workspace} />;
  });
}
