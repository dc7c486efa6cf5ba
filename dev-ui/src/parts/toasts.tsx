import { X } from 'lucide-react';
import { create } from 'zustand';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'info' | 'error';
  readonly action?: { readonly label: string; run(): void };
}

const shownMs = 6_000;
const useToastList = create(() => ({ toasts: [] as readonly Toast[] }));
let count = 0;

/** Shows a short message for a while; one with an action, such as Undo, stays a little longer. */
export function toast(text: string, options: Pick<Toast, 'action'> & { tone?: Toast['tone'] } = {}): () => void {
  count += 1;
  const one: Toast = { id: count, text, tone: 'info', ...options };
  useToastList.setState(({ toasts }) => ({ toasts: [...toasts.slice(-2), one] }));
  const close = (): void => drop(one.id);
  setTimeout(close, options.action ? shownMs * 1.5 : shownMs);
  return close;
}

const drop = (id: number): void =>
  useToastList.setState(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) }));

/** Where toasts appear. */
export function Toasts() {
  const toasts = useToastList((state) => state.toasts);
  return (
    <section className="toasts" aria-label="Notifications" aria-live="polite">
      {toasts.map(({ id, text, tone, action }) => (
        <div key={id} className={`toast ${tone}`}>
          <span className="grow">{text}</span>
          {action && (
            <button
              type="button"
              className="button small"
              onClick={() => {
                drop(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => drop(id)}>
            <X size={14} aria-hidden />
          </button>
        </div>
      ))}
    </section>
  );
}
