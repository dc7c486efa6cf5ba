import { type ReactNode, useState } from 'react';

interface SectionProps {
  readonly title: string;
  readonly note: string;
  readonly open?: boolean;
  readonly children: ReactNode;
}

/** A section that can be collapsed; collapsed content is not rendered. */
export function Section({ title, note, open = false, children }: SectionProps) {
  const [isOpen, setIsOpen] = useState(open);
  return (
    <details className="section" open={open} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <strong>{title}</strong> <span className="meta">{note}</span>
      </summary>
      {isOpen && <div className="section-body">{children}</div>}
    </details>
  );
}
