import { AppError } from '../base/errors.ts';
import type { Position } from '../core/runs.ts';

/** The `id:` of a frame: the run, whole events so far, and behind a dot the pieces of the next. */
export const positionText = (runId: string, { whole, piece }: Position): string =>
  piece === 0 ? `${runId}:${whole}` : `${runId}:${whole}.${piece}`;

/** Reads it back; absent means the start. Throws `invalid_request` for an id of another run. */
export function readPosition(text: string | undefined, runId: string): Position {
  if (text === undefined || text === '') return { whole: 0, piece: 0 };
  const [, ofRun, whole, piece = '0'] = /^(.*):(\d{1,9})(?:\.(\d{1,9}))?$/s.exec(text) ?? [];
  if (ofRun !== runId) throw new AppError('invalid_request', `Last-Event-ID: names no event of run "${runId}"`);
  return { whole: Number(whole), piece: Number(piece) };
}
