import { useEffect } from 'react';
import { getContext } from './current.ts';
import { contributionsOf } from './registry.ts';

const commands = contributionsOf('command').filter((command) => command.keys !== undefined);
/** How long the first key of two, such as `g t`, waits for the second. */
const chordMs = 1_200;

const inText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Handles the keys of commands, except while the focus is in a text field or in a dialog. */
export function Keys() {
  useEffect(() => {
    let first = '';
    let firstAt = 0;
    const onKey = (event: KeyboardEvent): void => {
      const mod = event.metaKey || event.ctrlKey;
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      if (!mod && (inText(event.target) || document.querySelector('dialog[open]'))) return;
      const letter = event.shiftKey && !mod ? event.key.toUpperCase() : event.key.toLowerCase(); // whatever Caps Lock says
      const key = `${mod ? 'mod+' : ''}${event.key.length === 1 ? letter : event.key}`;
      const chord = first !== '' && event.timeStamp - firstAt < chordMs ? `${first} ${key}` : key;
      const context = getContext();
      const fits = (keys: string): boolean =>
        commands.some((command) => command.keys === keys && (command.applies?.(context) ?? true));
      const wanted = fits(chord) ? chord : key;
      first = key;
      firstAt = event.timeStamp;
      const command = commands.find((one) => one.keys === wanted && (one.applies?.(context) ?? true));
      if (!command) return;
      event.preventDefault();
      first = '';
      void command.run(context); // it shows its own failures
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return null;
}
