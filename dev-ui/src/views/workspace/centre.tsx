import { setQuery, useLocation } from '../../app/location.ts';
import { componentOf, contributionsOf } from '../../app/registry.ts';
import type { Workspace } from '../../app/workspace.ts';
import { Faulty } from '../../parts/faulty.tsx';
import { Tabs } from '../../parts/tabs.tsx';

const views = contributionsOf('centre');
const strips = contributionsOf('slot').filter(({ slot }) => slot === 'strip');

/** The centre of the workspace: one of its views. */
export function Centre({ workspace }: { readonly workspace: Workspace }) {
  const { query } = useLocation();
  const shown = views.find(({ id }) => id === query.get('view')) ?? views[0];
  if (!shown) return null;
  const View = componentOf(shown);
  return (
    <section className="centre" aria-label="Session">
      <div className="centre-bar">
        <Tabs
          label="Views of the session"
          tabs={views}
          current={shown.id}
          onChange={(id) => setQuery({ view: id === views[0]?.id ? undefined : id })}
        />
        <div id="centre-tools" className="row grow end" />
      </div>
      {strips.map((strip) => {
        const Strip = componentOf(strip);
        return <Strip key={strip.order} workspace={workspace} row={undefined} />;
      })}
      <div className="centre-view" role="tabpanel" aria-label={shown.label}>
        <Faulty key={shown.id}>
          <View workspace={workspace} />
        </Faulty>
      </div>
    </section>
  );
}
