import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly keys?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  readonly danger?: boolean;
  run(): void;
}

interface MenuProps {
  /** The accessible name of the menu. */
  readonly label: string;
  readonly button: ReactNode;
  readonly items: readonly (MenuItem | 'line')[];
  readonly className?: string;
}

/** A button that opens a menu in the browser's top layer: arrows move, Escape closes and gives the focus back. */
export function Menu({ label, button, items, className = 'icon-button' }: MenuProps) {
  const [open, setOpen] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    trigger.current?.focus();
  };
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && <Popup id={id} label={label} items={items} anchor={trigger.current} onClose={close} />}
    </>
  );
}

interface PopupProps {
  readonly id: string;
  readonly label: string;
  readonly items: MenuProps['items'];
  readonly anchor: HTMLElement | null;
  readonly onClose: () => void;
}

function Popup({ id, label, items, anchor, onClose }: PopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = popup.current;
    if (!element || !anchor) return;
    element.showPopover();
    placeBelow(element, anchor);
    element.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
  }, [anchor]);
  return (
    <div
      ref={popup}
      id={id}
      popover="manual"
      role="menu"
      aria-label={label}
      className="menu"
      onKeyDown={(event) => moveInMenu(event, onClose)}
      onBlur={(event) => {
        const next = event.relatedTarget;
        if (!popup.current?.contains(next) && next !== anchor) onClose();
      }}
    >
      {items.map((item, index) =>
        item === 'line' ? (
          <div key={`line-${index}`} role="separator" className="menu-line" />
        ) : (
          <button
            key={item.label}
            type="button"
            role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
            aria-checked={item.checked}
            disabled={item.disabled}
            tabIndex={-1}
            className={`menu-item${item.danger ? ' danger' : ''}`}
            onClick={() => {
              onClose();
              item.run();
            }}
          >
            <span className="menu-icon">{item.checked ? '✓' : item.icon}</span>
            <span className="grow truncate">{item.label}</span>
            {item.keys !== undefined && <kbd>{item.keys}</kbd>}
          </button>
        ),
      )}
    </div>
  );
}

function moveInMenu(event: KeyboardEvent<HTMLElement>, onClose: () => void): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const step: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  const next = step[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') onClose();
  else if (next !== undefined) items.at(next % items.length)?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

const gap = 4;

/** Below the anchor, or above it when there is no room; never outside of the window. */
function placeBelow(element: HTMLElement, anchor: HTMLElement): void {
  const from = anchor.getBoundingClientRect();
  const { width, height } = element.getBoundingClientRect();
  const fitsBelow = from.bottom + gap + height <= window.innerHeight;
  const top = fitsBelow ? from.bottom + gap : Math.max(gap, from.top - gap - height);
  const left = Math.max(gap, Math.min(from.left, window.innerWidth - width - gap));
  Object.assign(element.style, { top: `${top}px`, left: `${left}px` });
}
