import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { hrefOf, navigate } from './location.ts';

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** An address made with `to`. */
  readonly to: string;
  readonly replace?: boolean;
}

/** A link inside the page: a real one, so that it can be opened in a new tab. */
export function Link({ to: address, replace = false, onClick, ...rest }: LinkProps) {
  const onLink = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(address, { replace });
  };
  return <a {...rest} href={hrefOf(address)} onClick={onLink} />;
}
