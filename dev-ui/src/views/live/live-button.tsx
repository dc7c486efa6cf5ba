import { AudioLines } from 'lucide-react';
import type { Workspace } from '../../app/workspace.ts';
import { startLive, stopLive, useLive } from './live-call.ts';

/** Begins or ends talking. */
export function LiveButton({ workspace }: { readonly workspace: Workspace }) {
  const { status, workspace: current } = useLive();
  const isOn = status !== 'off' && current === workspace;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isOn ? 'End the live conversation' : 'Talk live'}
      title={isOn ? 'End the live conversation' : 'Talk live'}
      aria-pressed={isOn}
      disabled={(status !== 'off' && !isOn) || workspace.run.status === 'running'}
      onClick={() => (isOn ? stopLive() : void startLive(workspace))}
    >
      <AudioLines size={16} aria-hidden />
    </button>
  );
}
