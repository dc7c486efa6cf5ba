import type { JsonObject } from '../../base/json.ts';
import type { AuthConfig, AuthCredential } from './auth-config.ts';

/**
 * The credential in an answer that is only a text, from user interfaces without a form for the scheme: the key, the
 * token, `name:password`, or the URL where a sign-in ended. `undefined` for any other answer.
 */
export function credentialFromText(answer: JsonObject, config: AuthConfig): AuthCredential | undefined {
  const [[key, value] = ['', undefined], ...others] = Object.entries(answer);
  if (others.length > 0 || (key !== 'result' && key !== 'response') || typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text === '') return undefined;
  const { authScheme: scheme, exchangedAuthCredential: asked } = config;
  if (scheme.type === 'apiKey') return { authType: 'apiKey', apiKey: text };
  if (scheme.type === 'http') return { authType: 'http', http: httpCredential(scheme.scheme, text) };
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const redirectUri = asked?.oauth2?.redirectUri ?? text.split(/[?#]/, 1)[0];
  const oauth2 = { ...asked?.oauth2, authResponseUri: text, ...(redirectUri !== undefined && { redirectUri }) };
  return { authType: asked?.authType ?? 'oauth2', oauth2 };
}

function httpCredential(scheme: string, text: string): NonNullable<AuthCredential['http']> {
  const at = text.indexOf(':');
  if (scheme.toLowerCase() !== 'basic' || at < 0) return { scheme, credentials: { token: text } };
  return { scheme, credentials: { username: text.slice(0, at), password: text.slice(at + 1) } };
}
