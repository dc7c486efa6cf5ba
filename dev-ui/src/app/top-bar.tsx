import { useQuery } from '@tanstack/react-query';
import { Command, Menu as MenuIcon, Moon, Sun, SunMoon, User } from 'lucide-react';
import { readVersion } from '../api/apps.ts';
import { Menu } from '../parts/menu.tsx';
import { BranchSwitcher } from './branch-switcher.tsx';
import { useCurrent } from './current.ts';
import { Link } from './link.tsx';
import { navigate, to, useLocation } from './location.ts';
import { AccountMenu } from './login/account-menu.tsx';
import { seesAllUsers, useMe } from './login/me.ts';
import { appIn, sessionIn } from './names.ts';
import { openPalette } from './overlays.tsx';
import { prompt } from './prompts.tsx';
import { SessionCommands } from './session-commands.tsx';
import { SessionSums } from './session-sums.tsx';
import { SessionTitle } from './session-title.tsx';
import { changeSettings, chooseUser, type Theme, useSettings } from './settings.ts';

const themes: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: 'system', label: 'System' },
  { theme: 'light', label: 'Light' },
  { theme: 'dark', label: 'Dark' },
];

interface TopBarProps {
  readonly navOpen: boolean;
  readonly onToggleNav: () => void;
}

export function TopBar({ navOpen, onToggleNav }: TopBarProps) {
  const { path } = useLocation();
  const app = appIn(path);
  const key = sessionIn(path);
  const workspace = useCurrent((state) => state.workspace);
  const me = useMe((state) => state.me);
  return (
    <header className="top-bar">
      <button
        type="button"
        className="icon-button"
        aria-label="Navigation"
        aria-expanded={navOpen}
        onClick={onToggleNav}
      >
        <MenuIcon size={16} aria-hidden />
      </button>
      <nav className="crumbs" aria-label="Breadcrumbs">
        <Link to="/apps" className="crumb home">
          agent-server
        </Link>
        {app !== undefined && (
          <Link to={to('/apps/:app', { app })} className="crumb truncate" title={app}>
            {app}
          </Link>
        )}
        {key && workspace && <SessionTitle workspace={workspace} />}
        {key && workspace && <BranchSwitcher workspace={workspace} />}
      </nav>
      <div className="grow" />
      {workspace && <SessionCommands workspace={workspace} />}
      {workspace && <SessionSums workspace={workspace} />}
      <Connection />
      {me && <AccountMenu me={me} />}
      {(!me || seesAllUsers(me)) && <UserMenu />}
      <button type="button" className="icon-button palette-button" onClick={openPalette} title="Search and commands">
        <Command size={14} aria-hidden />
        <span className="visually-hidden">Search and commands</span>
        <kbd aria-hidden>K</kbd>
      </button>
      <ThemeMenu />
    </header>
  );
}

function Connection() {
  const { isError, isPending } = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => readVersion(signal),
    refetchInterval: 10_000,
    retry: false,
  });
  const text = isPending ? 'connecting' : isError ? 'not connected' : 'connected';
  return (
    <span className={`connection ${isError ? 'off' : 'on'}`} title={`The server is ${text}`}>
      <span className="dot" aria-hidden />
      <span className="connection-text">{text}</span>
    </span>
  );
}

function UserMenu() {
  const { userId, users } = useSettings();
  const { path } = useLocation();
  const app = appIn(path);
  const shown = sessionIn(path)?.userId ?? userId;
  const choose = (user: string): void => {
    chooseUser(user);
    if (app !== undefined) navigate(to('/apps/:app', { app }));
  };
  return (
    <Menu
      label={`User: ${shown}`}
      className="icon-button user-button"
      button={
        <>
          <User size={14} aria-hidden />
          <span className="truncate">{shown}</span>
        </>
      }
      items={[
        ...[...new Set([...users, shown])].map((user) => ({
          label: user,
          checked: user === shown,
          run: () => choose(user),
        })),
        'line',
        { label: 'Other user …', run: () => askForUser(choose) },
      ]}
    />
  );
}

function ThemeMenu() {
  const { theme } = useSettings();
  const Icon = theme === 'system' ? SunMoon : theme === 'light' ? Sun : Moon;
  return (
    <Menu
      label="Theme"
      button={<Icon size={16} aria-hidden />}
      items={themes.map((one) => ({
        label: one.label,
        checked: one.theme === theme,
        run: () => changeSettings({ theme: one.theme }),
      }))}
    />
  );
}

/** Asks for the id of a user whose sessions to show. */
function askForUser(choose: (user: string) => void): void {
  prompt({ title: 'Other user', label: 'User ID', action: 'Switch', onSubmit: (user) => choose(user.trim()) });
}
