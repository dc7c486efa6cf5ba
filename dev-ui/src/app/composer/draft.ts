import { useEffect, useRef } from 'react';
import { create } from 'zustand';
import { createJSONStorage, persist } from 'zustand/middleware';
import { useSettings } from '../settings.ts';

interface Draft {
  readonly callerId?: string | undefined;
  readonly path: string;
  readonly text: string;
}

/** The text that was unsent when this tab left the page. */
const useStored = create<Draft>()(
  persist((): Draft => ({ path: '', text: '' }), {
    name: 'agent-server.draft',
    storage: createJSONStorage(() => sessionStorage),
  }),
);

const callerAndPath = () => ({ callerId: useSettings.getState().callerId, path: window.location.pathname });

/** The unsent text of the same caller at the same address, from before a login loaded the page again; else none. */
export function readDraft(): string {
  const { callerId, path, text } = useStored.getState();
  const here = callerAndPath();
  return callerId === here.callerId && path === here.path ? text : '';
}

/** Stores unsent text when the page is left. Only the first composer of the next page gets it. */
export function useDraft(text: string): void {
  const latest = useRef(text);
  useEffect(() => void (latest.current = text), [text]);
  useEffect(() => {
    useStored.setState({ text: '' });
    const keep = (): void => {
      useStored.setState({ ...callerAndPath(), text: latest.current });
    };
    window.addEventListener('pagehide', keep);
    return () => window.removeEventListener('pagehide', keep);
  }, []);
}
