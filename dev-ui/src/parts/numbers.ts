const count = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat('en');
const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** `941`, `12.4K`. */
export const shownCount = (value: number): string => (value < 10_000 ? plain.format(value) : count.format(value));

/** `403 ms`, `2.1 s`, `3 min 20 s`. Takes milliseconds. */
export function shownDuration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** Time of day. Takes seconds since the epoch. */
export const shownTime = (seconds: number): string => time.format(seconds * 1_000);

export const shownDay = (seconds: number): string => day.format(seconds * 1_000);

/** `1.2 kB`. */
export function shownBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
