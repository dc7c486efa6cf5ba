/**
 * Patterns of credentials that providers print into their own error texts. Each pattern is linear (no nested
 * quantifiers), so that hostile text cannot stall it.
 */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/\bAIza[0-9A-Za-z_-]{10,}/g, '[redacted]'],
  [/\bya29\.[0-9A-Za-z._-]{10,}/g, '[redacted]'],
  [/\b(?:sk|pk|rk|xai|gsk|hf|nvapi|pplx)[-_][0-9A-Za-z_-]{12,}/g, '[redacted]'],
  [/\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|npm)[-_][0-9A-Za-z_-]{10,}/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{12,}/g, '[redacted]'],
  [/(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{4,}(?:\.[0-9A-Za-z_-]*)?/g, '[redacted]'],
  [/\bask_[0-9a-z]{8,}_[0-9A-Za-z_-]{20,}/g, '[redacted]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, '[redacted]'],
  [/\b((?:bearer|basic)\s+)[0-9A-Za-z._~+/=-]{8,}/gi, '$1[redacted]'],
  [/(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}@/g, '$1[redacted]@'],
  [
    /\b((?:x-goog-)?(?:api[-_ ]?key|apikey|access[-_]?token|refresh[-_]?token|client[-_]?secret|secret|password|passwd|authorization|token)["']?\s{0,4}[:=]\s{0,4}["']?)(?!\[redacted\]|bearer |basic )[^\s"'&,;}]{4,}/gi,
    '$1[redacted]',
  ],
  [/([?&](?:key|sig|signature|code)=)[^\s&"']{4,}/gi, '$1[redacted]'],
];

/** Shorter values are not credentials; replacing them would damage ordinary words. */
export const shortestSecret = 8;

let ownSecrets: readonly string[] = [];

/** Makes `redact` also replace the values of environment variables that are named like credentials. */
export function redactEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  ownSecrets = Object.entries(env).flatMap(([name, value = '']) =>
    /(?:(?:_|^)(?:KEY|TOKEN|SECRET)|PASSWORD)$/.test(name) && value.length >= shortestSecret ? value : [],
  );
}

/**
 * Replaces everything that looks like a credential, or is one of this process. Called wherever text leaves the server:
 * log, span, error, event.
 */
export function redact(text: string): string {
  let clean = text;
  for (const secret of ownSecrets) clean = clean.replaceAll(secret, '[redacted]');
  if (clean.length <= pieceLength) return withoutShapes(clean);
  let whole = '';
  for (let at = 0; at < clean.length;) {
    const piece = clean.slice(at, pieceEnd(clean, at));
    whole += withoutShapes(piece);
    at += piece.length;
  }
  return whole;
}

function withoutShapes(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of secrets) clean = clean.replace(pattern, replacement);
  return clean;
}

/** Characters searched at a time. JavaScript throws on matches of several million characters. */
const pieceLength = 64 * 1024;
/** How far before its end a piece may be cut, so that no credential is split. */
const slack = 8 * 1024;

function pieceEnd(text: string, at: number): number {
  const end = at + pieceLength;
  if (end >= text.length) return text.length;
  const tail = text.slice(end - slack, end);
  const key = tail.lastIndexOf('-----BEGIN ');
  if (key > tail.lastIndexOf('-----END ')) return end - slack + key;
  const gap = Math.max(tail.lastIndexOf('\n'), tail.lastIndexOf(','), tail.lastIndexOf(' '));
  return gap < 0 ? end : end - slack + gap + 1;
}
