import { PanelRight, X } from 'lucide-react';
import type { Event } from '../../../../src/schemas/event.ts';
import { useLogVersion } from '../../app/current.ts';
import { setQuery, useLocation } from '../../app/location.ts';
import { componentOf, contributionsOf, type InspectorSpec } from '../../app/registry.ts';
import { changeSettings, useSettings } from '../../app/settings.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Divider } from '../../parts/divider.tsx';
import { Faulty } from '../../parts/faulty.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { Empty } from '../../parts/states.tsx';
import { Tabs } from '../../parts/tabs.tsx';

const all = contributionsOf('inspector');

/** Details of the selected event, or of the session when none is selected. */
export function Inspector({ workspace }: { readonly workspace: Workspace }) {
  const { rightOpen, rightWidth } = useSettings();
  const { query } = useLocation();
  const narrow = useNarrow();
  useLogVersion(workspace);
  const eventId = query.get('e');
  const event = eventId === null ? undefined : workspace.log.eventOf(eventId);
  const isOpen = narrow ? eventId !== null || query.has('t') : rightOpen;
  const close = (): void => {
    if (narrow || eventId !== null) setQuery({ e: undefined, t: undefined });
    else changeSettings({ rightOpen: false });
  };
  if (!isOpen) {
    return (
      <button
        type="button"
        className="icon-button inspector-open"
        aria-label="Open the inspector"
        onClick={() => (narrow ? setQuery({ t: all[0]?.id }) : changeSettings({ rightOpen: true }))}
      >
        <PanelRight size={16} aria-hidden />
      </button>
    );
  }
  const tabs = all.filter((tab) =>
    event ? tab.scope !== 'session' && (tab.applies?.(event) ?? true) : tab.scope !== 'event',
  );
  const shown = tabs.find(({ id }) => id === query.get('t')) ?? tabs[0];
  return (
    <aside
      className={`inspector${narrow ? ' drawer' : ''}`}
      aria-label={event ? 'Event details' : 'Session details'}
      style={narrow ? undefined : { width: rightWidth }}
    >
      {!narrow && (
        <Divider
          label="Width of the inspector"
          value={rightWidth}
          range={[300, 900]}
          reversed
          onChange={(width) => changeSettings({ rightWidth: width })}
        />
      )}
      <div className="inspector-bar">
        <Tabs
          label="Inspector tabs"
          tabs={tabs}
          current={shown?.id ?? ''}
          onChange={(id) => setQuery({ t: id }, { replace: true })}
        />
        <span className="grow" />
        <button
          type="button"
          className="icon-button"
          aria-label={event ? 'Close the event' : 'Close the inspector'}
          title={event ? 'Close the event (Esc)' : 'Close the inspector'}
          onClick={close}
        >
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="inspector-body" role="tabpanel" aria-label={shown?.label} tabIndex={0}>
        {eventId !== null && !event && <Empty title="Event not found in this session">{eventId}</Empty>}
        {shown && (
          <Faulty key={`${shown.id} ${eventId}`}>
            <Tab tab={shown} workspace={workspace} event={event} />
          </Faulty>
        )}
      </div>
    </aside>
  );
}

interface TabProps {
  readonly tab: InspectorSpec;
  readonly workspace: Workspace;
  readonly event: Event | undefined;
}

function Tab({ tab, ...props }: TabProps) {
  const Component = componentOf(tab);
  return <Component {...props} />;
}
