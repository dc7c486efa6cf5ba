import { create } from 'zustand';
import { late } from '../parts/late.tsx';
import { Prompts } from './prompts.tsx';

type Overlay = 'palette' | 'help' | undefined;

const useOverlay = create(() => ({ overlay: undefined as Overlay }));
const open = (overlay: Overlay) => (): void => useOverlay.setState({ overlay });

export const openPalette = open('palette');
export const openHelp = open('help');
const close = open(undefined);

const Palette = late(async () => (await import('./palette.tsx')).Palette);
const Help = late(async () => (await import('./help.tsx')).Help);

/** Overlays of the page: the palette, the keyboard shortcuts, a prompt. */
export function Overlays() {
  const overlay = useOverlay((state) => state.overlay);
  return (
    <>
      {overlay === 'palette' && <Palette onClose={close} />}
      {overlay === 'help' && <Help onClose={close} />}
      <Prompts />
    </>
  );
}
