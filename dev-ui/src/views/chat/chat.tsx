import type { Content } from '../../../../src/schemas/content.ts';
import { Composer } from '../../app/composer/composer.tsx';
import { RunOptionsButton, runOptions } from '../../app/composer/run-options.tsx';
import { useWorkspaceVersion } from '../../app/current.ts';
import { FilterBar } from '../../app/filter-bar.tsx';
import { componentOf, contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import { ForkNote } from './fork-note.tsx';
import { PendingBar } from './pending-bar.tsx';
import { Stream } from './stream.tsx';
import './chat.css';
import './rows.css';

const slots = contributionsOf('slot').filter(({ slot }) => slot === 'composer');

/** The conversation, and the composer of the next message. */
export function Chat({ workspace }: { readonly workspace: Workspace }) {
  useWorkspaceVersion(workspace);
  const send = (message: Content): void => void workspace.send(message, runOptions()); // failures show in the stream
  return (
    <div className="chat">
      <FilterBar workspace={workspace} />
      <ForkNote workspace={workspace} />
      <Stream workspace={workspace} />
      <div className="composer-place">
        <PendingBar workspace={workspace} />
        <Composer
          autoFocus
          running={workspace.run.status === 'running'}
          failure={workspace.run.error}
          placeholder={`Message ${workspace.key.appName}`}
          onSend={send}
          onStop={() => void workspace.stop()}
        >
          <RunOptionsButton />
          {slots.map((slot) => {
            const Slot = componentOf(slot);
            return <Slot key={slot.order} workspace={workspace} row={undefined} />;
          })}
        </Composer>
      </div>
    </div>
  );
}
