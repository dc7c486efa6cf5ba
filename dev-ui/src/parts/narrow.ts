import { useSyncExternalStore } from 'react';

const query = window.matchMedia('(max-width: 900px)');

const subscribe = (listener: () => void): (() => void) => {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Whether there is room for one column only. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
