import { create } from 'zustand';

const useAnnouncement = create(() => ({ text: '' }));

/** Tells screen readers something, politely; the same text twice is told twice. */
export function announce(text: string): void {
  const { text: before } = useAnnouncement.getState();
  useAnnouncement.setState({ text: before === text ? `${text}\u00A0` : text });
}

/** The one live region of the page. */
export function LiveRegion() {
  const text = useAnnouncement((state) => state.text);
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-testid="announcements">
      {text}
    </div>
  );
}
