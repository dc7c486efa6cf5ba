import { SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { JsonField } from '../../parts/schema-form.tsx';
import { changeSettings, useSettings } from '../settings.ts';
import type { RunOptions } from '../workspace.ts';

/** The options of a run from the settings. */
export function runOptions(): RunOptions {
  const { streaming, maxLlmCalls, filesAsArtifacts, stateDelta } = useSettings.getState();
  const runConfig = {
    ...(maxLlmCalls !== undefined && { maxLlmCalls }),
    ...(filesAsArtifacts && { saveInputBlobsAsArtifacts: true }),
  };
  return {
    streaming,
    ...(Object.keys(runConfig).length > 0 && { runConfig }),
    ...(stateDelta !== undefined && { stateDelta }),
  };
}

/** A button that opens the run options. */
export function RunOptionsButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Run options"
        title="Run options"
        onClick={() => setOpen(true)}
      >
        <SlidersHorizontal size={16} aria-hidden />
      </button>
      {open && <OptionsDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function OptionsDialog({ onClose }: { onClose: () => void }) {
  const { streaming, maxLlmCalls, filesAsArtifacts, stateDelta } = useSettings();
  return (
    <Dialog title="Run options" onClose={onClose}>
      <div className="stack">
        <label className="row">
          <input
            type="checkbox"
            checked={streaming}
            onChange={({ target }) => changeSettings({ streaming: target.checked })}
          />
          Stream the answer in chunks
        </label>
        <label className="row">
          <input
            type="checkbox"
            checked={filesAsArtifacts}
            onChange={({ target }) => changeSettings({ filesAsArtifacts: target.checked })}
          />
          Save attached files as artifacts
        </label>
        <label className="field">
          <span>Maximum model calls per run</span>
          <input
            className="input"
            type="number"
            min={1}
            placeholder="500"
            value={maxLlmCalls ?? ''}
            onChange={({ target }) =>
              changeSettings({ maxLlmCalls: target.value === '' ? undefined : Number(target.value) })
            }
          />
        </label>
        <div className="field">
          <span>State to set with each message</span>
          <JsonField
            label="State to set with each message"
            value={stateDelta}
            rows={3}
            onChange={(value) => changeSettings({ stateDelta: value as Record<string, unknown> | undefined })}
          />
        </div>
      </div>
    </Dialog>
  );
}
