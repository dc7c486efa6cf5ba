import { Ellipsis } from 'lucide-react';
import { contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import type { Row } from '../../log/rows.ts';
import { Menu } from '../../parts/menu.tsx';

const commands = contributionsOf('command').filter(({ place }) => place === 'event');

/** The menu of an event. */
export function RowMenu({ row: { event }, workspace }: { readonly row: Row; readonly workspace: Workspace }) {
  const context = { workspace, event };
  return (
    <span className="row-menu">
      <Menu
        label="Actions for this event"
        button={<Ellipsis size={14} aria-hidden />}
        items={commands
          .filter((command) => command.applies?.(context) ?? true)
          .map(({ icon: Icon, ...command }) => ({
            label: command.label,
            ...(command.keys !== undefined && { keys: command.keys }),
            ...(Icon && { icon: <Icon size={14} aria-hidden /> }),
            run: () => void command.run(context), // it shows its own failures
          }))}
      />
    </span>
  );
}
