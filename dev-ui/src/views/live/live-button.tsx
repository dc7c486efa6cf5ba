import { AudioLines } from 'lucide-react';
import type { Workspace } from '../../app/workspace.ts';
import { startLive, stopLive, useLive } from './live-call.ts';

/** Starts or ends the live conversation. */
export function LiveButton({ workspace }: { readonly workspace: Workspace }) {
  const { status, workspace: current } = useLive();
  const isOn = status !== 'off' && current === workspace;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isOn ? 'End live conversation' : 'Start live conversation'}
      title={isOn ? 'End live conversation' : 'Start live conversation'}
      aria-pressed={isOn}
      disabled={(status !== 'off' && !isOn) || workspace.run.status === 'running'}
      onClick={() => (isOn ? stopLive() : void startLive(workspace))}
    >
      <AudioLines size={16} aria-hidden />
    </button>
  );
}
