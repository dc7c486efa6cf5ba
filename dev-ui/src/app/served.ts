import { useQuery } from '@tanstack/react-query';
import { readCapabilities } from '../api/extensions.ts';

/**
 * Whether the server serves a part of the API for development, which may be switched off; undefined until it has
 * answered. A server that does not say counts as serving it.
 */
export function useServes(part: string): boolean | undefined {
  const parts = useServedParts();
  return parts === undefined ? undefined : parts === 'unknown' || parts.includes(part);
}

export function useServedParts(): readonly string[] | 'unknown' | undefined {
  const { data, isError } = useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => readCapabilities(signal),
  });
  return data?.development ?? (data || isError ? 'unknown' : undefined);
}
