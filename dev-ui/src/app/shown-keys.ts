const isMac = /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

/** Keys as they are written on this machine's keyboard. */
export const shownKeys = (keys: string): string =>
  /^\p{Lu}$/u.test(keys) ? `Shift ${keys}` : keys.replace('mod+', isMac ? '⌘' : 'Ctrl ').replace('Escape', 'Esc');
