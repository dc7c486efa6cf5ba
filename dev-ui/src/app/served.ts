import { useQuery } from '@tanstack/react-query';
import { readCapabilities } from '../api/extensions.ts';
import { mayUse, useMe } from './login/me.ts';

/**
 * Whether the server serves a part of the API for development, which may be switched off; undefined until it has
 * answered. A server that does not say counts as serving it.
 */
export function useServes(part: string): boolean | undefined {
  const parts = useServedParts();
  return parts === undefined ? undefined : parts === 'unknown' || parts.includes(part);
}

/** The parts that the server serves and the caller may use. */
export function useServedParts(): readonly string[] | 'unknown' | undefined {
  const me = useMe((state) => state.me);
  const { data, isError } = useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => readCapabilities(signal),
  });
  return data?.development.filter((part) => mayUse(part, me)) ?? (data || isError ? 'unknown' : undefined);
}
