import { useQueries, useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useDeferredValue, useState } from 'react';
import { listApps } from '../api/apps.ts';
import { listSummaries } from '../api/summaries.ts';
import { Dialog } from '../parts/dialog.tsx';
import { getContext } from './current.ts';
import { navigate, to } from './location.ts';
import { sessionAddress, shownTitle } from './names.ts';
import { summariesKey } from './queries.ts';
import { contributionsOf } from './registry.ts';
import { useSettings } from './settings.ts';
import { shownKeys } from './shown-keys.ts';

const commands = contributionsOf('command');
const pages = contributionsOf('page').filter((page) => page.nav && !page.pattern.includes(':'));

/** Finds commands, apps, sessions and pages by name. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const userId = useSettings((state) => state.userId);
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal) }).data ?? [];
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed).trim();
  const sessions = useQueries({
    queries: apps
      .filter((app) => app.error === undefined)
      .map(({ name: appName }) => ({
        queryKey: [...summariesKey({ appName, userId }), 'palette', search],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const page = await listSummaries({ appName, userId }, { search }, signal);
          return page.sessions.map((session) => ({ ...session, appName }));
        },
      })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const context = getContext();
  const go = (address: string) => (): void => {
    onClose();
    navigate(address);
  };
  return (
    <Dialog title="Search and commands" bare onClose={onClose}>
      <Command label="Search and commands" className="palette" loop>
        <Command.Input
          className="palette-input"
          placeholder="Search sessions, apps and commands"
          autoFocus
          value={typed}
          onValueChange={setTyped}
        />
        <Command.List className="palette-list">
          <Command.Empty className="secondary palette-empty">No matches</Command.Empty>
          <Command.Group heading="Commands">
            {commands
              .filter((command) => command.applies?.(context) ?? true)
              .map((command) => (
                <Command.Item
                  key={command.id}
                  value={`${command.label} ${command.id}`}
                  onSelect={() => {
                    onClose();
                    void command.run(context); // it shows its own failures
                  }}
                >
                  <span className="grow">{command.label}</span>
                  {command.keys !== undefined && <kbd>{shownKeys(command.keys)}</kbd>}
                </Command.Item>
              ))}
          </Command.Group>
          <Command.Group heading="Pages">
            {pages.map((page) => (
              <Command.Item key={page.pattern} value={`Page ${page.title}`} onSelect={go(page.pattern)}>
                {page.title}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading="Apps">
            {apps.map(({ name }) => (
              <Command.Item key={name} value={`App ${name}`} onSelect={go(to('/apps/:app', { app: name }))}>
                {name}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading="Sessions">
            {sessions.slice(0, 100).map((session) => (
              <Command.Item
                key={`${session.appName}/${session.id}`}
                value={`${session.title} ${session.match ?? ''} ${session.id}`}
                keywords={[search]} // the server found it: it stays, however the words are spread over its text
                onSelect={go(sessionAddress({ appName: session.appName, userId, sessionId: session.id }))}
              >
                <span className="grow truncate">{session.match ?? shownTitle(session)}</span>
                <span className="meta">{session.appName}</span>
              </Command.Item>
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}
