import { getLocation, navigate, setQuery, to } from '../../app/location.ts';
import { appIn } from '../../app/names.ts';
import { openHelp, openPalette } from '../../app/overlays.tsx';
import { contributionsOf, type Contribution } from '../../app/registry.ts';
import { changeSettings, useSettings } from '../../app/settings.ts';

const app = (): string | undefined => appIn(getLocation().path) ?? useSettings.getState().lastApp;

const inspect = (index: number): Contribution => ({
  kind: 'command',
  id: `inspect-${index}`,
  label: `Inspector tab ${index}`,
  keys: String(index),
  applies: ({ event }) => event !== undefined,
  run: () => document.querySelectorAll<HTMLElement>('.inspector [role=tab]')[index - 1]?.click(),
});

const centre = (keys: string, id: string, label: string): Contribution => ({
  kind: 'command',
  id: `go-${id}`,
  label,
  keys,
  applies: ({ workspace }) => workspace !== undefined && contributionsOf('centre').some((view) => view.id === id),
  run: () => setQuery({ view: id === 'chat' ? undefined : id }),
});

export const contributions: readonly Contribution[] = [
  { kind: 'command', id: 'palette', label: 'Search and commands', keys: 'mod+k', run: openPalette },
  { kind: 'command', id: 'help', label: 'Keyboard shortcuts', keys: '?', run: openHelp },
  {
    kind: 'command',
    id: 'new',
    label: 'New session',
    keys: 'n',
    applies: () => app() !== undefined && !getLocation().query.has('q'), // then it is the next match
    run: () => navigate(to('/apps/:app', { app: app() ?? '' })),
  },
  centre('g c', 'chat', 'Go to the chat'),
  centre('g e', 'events', 'Go to the events'),
  centre('g t', 'trace', 'Go to the trace'),
  { kind: 'command', id: 'go-home', label: 'Go to the apps', keys: 'g a', run: () => navigate('/apps') },
  { kind: 'command', id: 'go-settings', label: 'Go to the settings', keys: 'g s', run: () => navigate('/settings') },
  ...[1, 2, 3, 4].map(inspect),
  {
    kind: 'command',
    id: 'close',
    label: 'Close the event',
    keys: 'Escape',
    applies: () => getLocation().query.has('e'),
    run: () => setQuery({ e: undefined, t: undefined }),
  },
  {
    kind: 'command',
    id: 'theme',
    label: 'Switch between light and dark',
    run: () => {
      const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
      const { theme } = useSettings.getState();
      const isDark = theme === 'system' ? window.matchMedia('(prefers-color-scheme: dark)').matches : dark;
      changeSettings({ theme: isDark ? 'light' : 'dark' });
    },
  },
];
