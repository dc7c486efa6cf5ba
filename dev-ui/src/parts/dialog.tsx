import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
  /** Keeps the title for screen readers only. */
  readonly bare?: boolean;
}

/**
 * A modal dialog on the browser's own: it keeps the focus, Escape closes it, and the focus goes back where it was.
 * (Libraries do the same with inline styles, which the page's policy refuses.)
 */
export function Dialog({ title, onClose, children, wide = false, bare = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The browser would choose the button that closes it.
    dialog?.querySelector<HTMLElement>('input:not([type=checkbox]), textarea')?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog${wide ? ' wide' : ''}${bare ? ' bare' : ''}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div className="dialog-body">
        <header className={bare ? 'visually-hidden' : 'dialog-head'}>
          <h2 id={titleId}>{title}</h2>
          {!bare && (
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <X size={16} aria-hidden />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
