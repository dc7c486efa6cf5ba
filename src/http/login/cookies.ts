/** The value of a cookie in a `Cookie` header; `undefined` if there is none, or more than one: a host nearby may have set another. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** A cookie's value, and the end of its life in milliseconds since the epoch. */
export interface CookieValue {
  readonly value: string;
  readonly endsAt: number;
}

/** An empty value that browsers delete at once. */
export const deletedValue: CookieValue = { value: '', endsAt: 0 };

export interface CookieOptions {
  /** Whether browsers may send it over https only. */
  readonly isSecure: boolean;
  /** `Lax`: also with a link from another site. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** A `Set-Cookie` header of a cookie that no script can read, for all paths of this host and for no other host. */
export function cookieHeader(name: string, { value, endsAt }: CookieValue, options: CookieOptions): string {
  const { isSecure, sameSite } = options;
  const seconds = Math.max(0, Math.floor((endsAt - Date.now()) / 1_000));
  const text = `${cookieName(name, isSecure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}`;
  return isSecure ? `${text}; Secure` : text;
}

/** The full name. With the prefix, browsers take it over https only, and from this host only (RFC 6265bis, 4.1.3.2). */
export const cookieName = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name);
