const filler = (length: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC'.repeat(4).slice(0, length);

/** Made-up credentials of well-known shapes, put together here so that no scanner takes this file for a leak. */
export const keyPatterns: readonly { readonly kind: string; readonly key: string; readonly secret: string }[] = [
  { kind: 'a Google API key', prefix: ['AI', 'za'].join(''), length: 35 },
  { kind: 'an OpenAI key', prefix: ['sk', '-proj-'].join(''), length: 40 },
  { kind: 'an Anthropic key', prefix: ['sk', '-ant-api03-'].join(''), length: 60 },
  { kind: 'a GitHub token', prefix: ['gh', 'p_'].join(''), length: 36 },
  { kind: 'a Google OAuth token', prefix: ['ya', '29.'].join(''), length: 60 },
  { kind: 'a Slack token', prefix: ['xo', 'xb-'].join(''), length: 40 },
]
  .map(({ kind, prefix, length }) => ({ kind, key: `${prefix}${filler(length)}`, secret: filler(length).slice(0, 24) }))
  .concat([
    { kind: 'a bearer header', key: `Authorization: Bearer ${filler(48)}`, secret: filler(24) },
    { kind: 'a key in a URL', key: `https://models.example/v1?key=${filler(32)}`, secret: filler(24) },
    { kind: 'a password in a database URL', key: `postgres://app:${filler(24)}@db.example/x`, secret: filler(24) },
    { kind: 'an assignment', key: `api_key=${filler(32)}`, secret: filler(24) },
  ]);
