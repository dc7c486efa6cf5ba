import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { messageOf } from '../../api/server.ts';
import { patchState } from '../../api/sessions.ts';
import { announce } from '../../app/announce.tsx';
import { useLogVersion } from '../../app/current.ts';
import { setQuery } from '../../app/location.ts';
import { callerMayUse } from '../../app/login/me.ts';
import { isInternalKey } from '../../app/names.ts';
import type { Workspace } from '../../app/workspace.ts';
import { stateHistoryOf } from '../../log/state-history.ts';
import { Empty } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { KeyRow } from './key-row.tsx';
import { NewKey } from './new-key.tsx';
import { grouped, scopes } from './scopes.ts';
import './state.css';

interface StatePanelProps {
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

const filterFrom = 8;

/** The current state, to edit; or the state after the selected event. */
export function StatePanel({ workspace, event }: StatePanelProps) {
  const { log } = workspace;
  const version = useLogVersion(workspace);
  const [filter, setFilter] = useState('');
  const [isAdding, setAdding] = useState(false);
  const position = event && log.positionOf(event.id);
  const isNow = position === undefined;
  const history = stateHistoryOf(log);
  const state = useMemo(
    () => (position === undefined ? log.state : stateHistoryOf(log).stateAt(position, log.state)),
    // `version` stands for what is in the log
    [log, position, version],
  );
  const removed = Object.keys(event?.actions.stateDelta ?? {}).filter((key) => !(key in state));
  const groups = grouped({ ...state, ...Object.fromEntries(removed.map((key) => [key, null])) }, filter);
  const count = Object.keys(state).filter((key) => !isInternalKey(key)).length;

  const save = async (key: string, value: unknown): Promise<void> => {
    const { state: changed } = await patchState(workspace.key, { [key]: value });
    log.setState(changed);
    announce(value === null ? `Deleted ${key}` : `Saved ${key}`);
    void workspace.catchUp(); // reads the event of the change; failures show in the chat
  };
  const remove = async (key: string): Promise<void> => {
    const before = state[key];
    try {
      await save(key, null);
      toast(`Deleted ${key}`, { action: { label: 'Undo', run: () => void save(key, before).catch(report) } });
    } catch (error) {
      report(error);
    }
  };

  return (
    <div className="stack">
      <div className="row">
        {isNow ? (
          <h2 className="grow">State now</h2>
        ) : (
          <>
            <h2 className="grow">State after event {position + 1}</h2>
            <button type="button" className="button small" onClick={() => setQuery({ e: undefined, t: 'state' })}>
              Now
            </button>
          </>
        )}
        {isNow && (
          <button type="button" className="button small" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            <Plus size={14} aria-hidden /> Key
          </button>
        )}
      </div>
      {isNow && isAdding && <NewKey taken={Object.keys(state)} onSave={save} onClose={() => setAdding(false)} />}
      {count >= filterFrom && (
        <input
          type="search"
          className="input"
          aria-label="Filter keys"
          placeholder="Filter keys"
          value={filter}
          onChange={(change) => setFilter(change.target.value)}
        />
      )}
      {groups.size === 0 && (
        <Empty title={filter === '' ? 'The state is empty' : 'No matching keys'}>
          {filter === '' && 'Agents and tools write state. You can edit it here.'}
        </Empty>
      )}
      {scopes.map(({ id, label, about }) => {
        const keys = groups.get(id);
        if (!keys) return null;
        return (
          <section key={id} className="state-group" aria-label={`${label} state`}>
            <h3>
              {label} <span className="meta">{about}</span>
            </h3>
            <ul>
              {keys.map((key) => (
                <KeyRow
                  key={key}
                  name={key}
                  value={state[key]}
                  isRemoved={removed.includes(key)}
                  changes={history.changes.get(key) ?? []}
                  changedBy={event && key in event.actions.stateDelta ? position : undefined}
                  before={position === undefined ? undefined : history.before(key, position)}
                  log={log}
                  onSave={
                    isNow && (id !== 'app' || callerMayUse('app-state')) ? (value) => save(key, value) : undefined
                  }
                  onRemove={() => void remove(key)}
                />
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

const report = (error: unknown): void => void toast(messageOf(error), { tone: 'error' });
