import { useEffect, useReducer, useRef } from 'react';
import { readSpanChanges } from '../../api/extensions.ts';
import { isAbort } from '../../api/server.ts';
import { useWorkspaceVersion } from '../../app/current.ts';
import type { Workspace } from '../../app/workspace.ts';
import { type Span, spanOf } from './spans.ts';

/** How often the page polls for new spans during a run. */
const pollMs = 400;

export interface Spans {
  readonly spans: ReadonlyMap<string, Span>;
  /** Changes with the spans. */
  readonly version: number;
  readonly running: boolean;
  readonly error: unknown;
  readonly loaded: boolean;
}

interface Store {
  spans: Map<string, Span>;
  mark: number;
  version: number;
  running: boolean;
  loaded: boolean;
  error: unknown;
}

const emptyStore = (): Store => ({
  spans: new Map(),
  mark: 0,
  version: 0,
  running: false,
  loaded: false,
  error: undefined,
});

/** The spans of a session: all of them once, then new ones during a run. */
export function useSpans(workspace: Workspace): Spans {
  const store = useRef(emptyStore());
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useWorkspaceVersion(workspace);
  const isRunning = workspace.run.status === 'running';
  useEffect(() => {
    store.current = emptyStore();
  }, [workspace]);
  useEffect(() => {
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const current = store.current;
      try {
        const { spans, mark, running } = await readSpanChanges(workspace.key, current.mark, left.signal);
        for (const span of spans) current.spans.set(span.span_id, spanOf(span));
        const changed = spans.length > 0 || running !== current.running || !current.loaded;
        Object.assign(current, { mark, running, loaded: true, error: undefined });
        if (changed) {
          current.version += 1;
          redraw();
        }
        if (running || isRunning) timer = setTimeout(() => void look(), pollMs);
      } catch (error) {
        if (isAbort(error)) return;
        Object.assign(current, { error, loaded: true });
        redraw();
      }
    };
    void look();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [workspace, isRunning]);
  return store.current;
}
