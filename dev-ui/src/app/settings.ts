import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'comfortable' | 'compact';

/** Settings in this browser. They never leave the machine. */
export interface Settings {
  readonly theme: Theme;
  readonly density: Density;
  /** The user whose sessions are shown. */
  readonly userId: string;
  readonly users: readonly string[];
  /** Whose settings these are, on a server that knows its callers. */
  readonly callerId: string | undefined;
  readonly lastApp: string | undefined;
  /** The last session of each app, as `user/session`, both encoded. */
  readonly lastSessions: Readonly<Record<string, string>>;
  /** Sessions kept at the top of the list, by id. */
  readonly pinned: readonly string[];
  readonly streaming: boolean;
  /** Model calls allowed in one run; absent: the server's default. */
  readonly maxLlmCalls: number | undefined;
  readonly filesAsArtifacts: boolean;
  /** Sent with every message. */
  readonly stateDelta: Readonly<Record<string, unknown>> | undefined;
  readonly leftOpen: boolean;
  readonly leftWidth: number;
  readonly rightOpen: boolean;
  readonly rightWidth: number;
  /** Sent messages, oldest first. */
  readonly prompts: readonly string[];
  /** Dollars per million tokens, by the beginning of a model's name; on top of the server's table. */
  readonly prices: Readonly<Record<string, { readonly input: number; readonly output: number }>>;
}

export const settingsDefaults: Settings = {
  theme: 'system',
  density: 'comfortable',
  userId: 'user',
  users: ['user'],
  callerId: undefined,
  lastApp: undefined,
  lastSessions: {},
  pinned: [],
  streaming: true,
  maxLlmCalls: undefined,
  filesAsArtifacts: false,
  stateDelta: undefined,
  leftOpen: true,
  leftWidth: 240,
  rightOpen: true,
  rightWidth: 440,
  prompts: [],
  prices: {},
};

/** The settings as a hook; `useSettings.getState()` reads them elsewhere. */
export const useSettings = create<Settings>()(persist(() => settingsDefaults, { name: 'agent-server.settings' }));

/** Changes settings, remembers them and shows theme and density at once. */
export function changeSettings(changes: Partial<Settings>): void {
  useSettings.setState(changes);
  const { theme, density } = useSettings.getState();
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  if (density === 'compact') dataset['density'] = density;
  else delete dataset['density'];
}

/** Remembers a user so that the switcher offers it. */
export function chooseUser(userId: string): void {
  const { users } = useSettings.getState();
  changeSettings({ userId, users: users.includes(userId) ? users : [...users, userId] });
}
