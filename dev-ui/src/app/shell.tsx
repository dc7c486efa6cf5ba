import { type ReactNode, useEffect, useState } from 'react';
import { Divider } from '../parts/divider.tsx';
import { Faulty } from '../parts/faulty.tsx';
import { useNarrow } from '../parts/narrow.ts';
import { LeftNav } from './left-nav.tsx';
import { useLocation } from './location.ts';
import { changeSettings, useSettings } from './settings.ts';
import { TopBar } from './top-bar.tsx';

/** The shell of every page: top bar, navigation, page. In a narrow window the navigation covers the page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { leftOpen, leftWidth } = useSettings();
  const narrow = useNarrow();
  const [drawer, setDrawer] = useState(false);
  const { path } = useLocation();
  useEffect(() => setDrawer(false), [path]);
  const isOpen = narrow ? drawer : leftOpen;
  const toggle = (): void => (narrow ? setDrawer(!drawer) : changeSettings({ leftOpen: !leftOpen }));
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <TopBar navOpen={isOpen} onToggleNav={toggle} />
      <div className="shell-body">
        {isOpen && (
          <nav
            className={`left-nav${narrow ? ' drawer' : ''}`}
            aria-label="Apps and sessions"
            style={narrow ? undefined : { width: leftWidth }}
          >
            <Faulty>
              <LeftNav />
            </Faulty>
            {!narrow && (
              <Divider
                label="Width of the navigation"
                value={leftWidth}
                range={[180, 480]}
                onChange={(width) => changeSettings({ leftWidth: width })}
              />
            )}
          </nav>
        )}
        {isOpen && narrow && (
          <button type="button" className="drawer-back" aria-label="Close navigation" onClick={toggle} />
        )}
        <main id="main" className="shell-main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}
