import { setQuery } from './location.ts';
import type { CommandSpec } from './registry.ts';
import { changeSettings } from './settings.ts';

interface ShowTab {
  /** The tab's id. */
  readonly tab: string;
  readonly label: string;
  readonly keys: string;
  /** It concerns the session: the selected event is deselected. */
  readonly ofSession?: boolean;
}

/** A command that opens a tab of the inspector. */
export const showTab = ({ tab, label, keys, ofSession = false }: ShowTab): CommandSpec => ({
  kind: 'command',
  id: `show-${tab}`,
  label,
  keys,
  applies: ({ workspace }) => workspace !== undefined,
  run() {
    changeSettings({ rightOpen: true });
    setQuery({ t: tab, ...(ofSession && { e: undefined }) });
  },
});
