import { AppError } from '../../base/errors.ts';
import { ApiKey } from '../../schemas/api-key.ts';

/** A key as both databases select it: the record as JSON, and when it was revoked. */
export interface KeyRow {
  readonly record: string;
  readonly revokedAt: string | null;
}

export const keyColumns = 'record, revoked_at as "revokedAt"';

/** Keys are only added and revoked, so both counts together tell whether anything has changed. */
export const keyCounts = 'select count(*) as keys, count(revoked_at) as revoked from agent_api_keys';

export interface KeyCounts {
  readonly keys: number | string;
  readonly revoked: number | string;
}

export const versionOf = (counts: KeyCounts | undefined): string => `${counts?.keys ?? 0} ${counts?.revoked ?? 0}`;

/**
 * The keys of the rows. A row that is no key of this version, such as one of a newer server with a field that restricts
 * it, opens nothing here and is left out.
 */
export const keysOf = (rows: readonly KeyRow[]): ApiKey[] => rows.flatMap((row) => keyOf(row) ?? []);

export function keyOf({ record, revokedAt }: KeyRow): ApiKey | undefined {
  try {
    const fields = JSON.parse(record) as object;
    return ApiKey.safeParse(revokedAt === null ? fields : { ...fields, revokedAt }).data;
  } catch {
    return undefined; // not JSON: the table was edited by hand
  }
}

export const keyExists = (id: string): AppError => new AppError('invalid_request', `There is a key "${id}" already`);
