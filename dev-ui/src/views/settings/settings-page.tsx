import { useQuery } from '@tanstack/react-query';
import { readVersion } from '../../api/apps.ts';
import { seesAllUsers, useMe } from '../../app/login/me.ts';
import { openHelp } from '../../app/overlays.tsx';
import { changeSettings, type Density, type Theme, useSettings } from '../../app/settings.ts';
import { PriceTable } from './price-table.tsx';
import './settings.css';

/** The settings of this browser. */
export function SettingsPage() {
  const { theme, density, streaming, userId } = useSettings();
  const me = useMe((state) => state.me);
  const version = useQuery({ queryKey: ['version'], queryFn: ({ signal }) => readVersion(signal) });
  return (
    <div className="page">
      <div className="settings">
        <h1>Settings</h1>
        <p className="secondary">Stored in this browser only.</p>
        <Choice
          label="Theme"
          value={theme}
          options={{ system: 'System', light: 'Light', dark: 'Dark' }}
          onChange={(value) => changeSettings({ theme: value as Theme })}
        />
        <Choice
          label="Density"
          value={density}
          options={{ comfortable: 'Comfortable', compact: 'Compact' }}
          onChange={(value) => changeSettings({ density: value as Density })}
        />
        <section className="stack">
          <h2>Runs</h2>
          <label className="row">
            <input
              type="checkbox"
              checked={streaming}
              onChange={(event) => changeSettings({ streaming: event.target.checked })}
            />
            Stream answers in chunks
          </label>
          <p className="secondary">
            Current user: <code>{userId}</code>.{(!me || seesAllUsers(me)) && ' Change it at the top right.'}
          </p>
        </section>
        <PriceTable />
        <section className="stack">
          <h2>About</h2>
          <p className="secondary">
            agent-server {version.data?.version} on Node {version.data?.language_version}. <a href="../docs">The API</a>{' '}
            is described by the server itself.
          </p>
          <p>
            <button type="button" className="button small" onClick={openHelp}>
              Keyboard shortcuts
            </button>
          </p>
        </section>
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      <div className="row wrap">
        {Object.entries(options).map(([name, text]) => (
          <label key={name} className="row option">
            <input type="radio" name={label} checked={name === value} onChange={() => onChange(name)} />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
