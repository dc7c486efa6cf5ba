import { useQuery } from '@tanstack/react-query';
import { readVersion } from '../../api/apps.ts';
import { changeSettings, type Density, type Theme, useSettings } from '../../app/settings.ts';

/** What this browser remembers. */
export function SettingsPage() {
  const { theme, density, streaming } = useSettings();
  const version = useQuery({ queryKey: ['version'], queryFn: ({ signal }) => readVersion(signal) });
  return (
    <div className="page">
      <div className="stack">
        <h1>Settings</h1>
        <Choice
          label="Theme"
          value={theme}
          options={{ system: 'As the system', light: 'Light', dark: 'Dark' }}
          onChange={(value) => changeSettings({ theme: value as Theme })}
        />
        <Choice
          label="Density"
          value={density}
          options={{ comfortable: 'Comfortable', compact: 'Compact' }}
          onChange={(value) => changeSettings({ density: value as Density })}
        />
        <label className="row">
          <input
            type="checkbox"
            checked={streaming}
            onChange={(event) => changeSettings({ streaming: event.target.checked })}
          />
          Stream answers word by word
        </label>
        <p className="meta">agent-server {version.data?.version}</p>
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
      {Object.entries(options).map(([name, text]) => (
        <label key={name} className="row">
          <input type="radio" name={label} checked={name === value} onChange={() => onChange(name)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
