import { contributionsOf } from './registry.ts';
import type { Workspace } from './workspace.ts';

const commands = contributionsOf('command').filter(({ place, icon }) => place === 'session' && icon !== undefined);

/** The commands of the session on the screen, one button each. */
export function SessionCommands({ workspace }: { readonly workspace: Workspace }) {
  const context = { workspace, event: undefined };
  return commands
    .filter((command) => command.applies?.(context) ?? true)
    .map(
      ({ id, label, icon: Icon, ...command }) =>
        Icon && (
          <button
            key={id}
            type="button"
            className="icon-button"
            aria-label={label}
            title={label}
            onClick={() => void command.run(context)} // it shows its own failures
          >
            <Icon size={14} aria-hidden />
          </button>
        ),
    );
}
