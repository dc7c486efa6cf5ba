import { Dialog } from '../parts/dialog.tsx';
import { contributionsOf } from './registry.ts';
import { shownKeys } from './shown-keys.ts';

/** All commands that have a key. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  const commands = contributionsOf('command').filter((command) => command.keys !== undefined);
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      <dl className="keys">
        {commands.map(({ id, keys = '', label }) => (
          <div key={id} className="row">
            <dt>
              <kbd>{shownKeys(keys)}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div className="row">
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>Send the message; Shift Enter starts a new line</dd>
        </div>
        <div className="row">
          <dt>
            <kbd>↑</kbd>
          </dt>
          <dd>In an empty message: the previous message</dd>
        </div>
      </dl>
    </Dialog>
  );
}
