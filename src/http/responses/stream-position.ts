import { AppError } from '../../base/errors.ts';
import type { Position } from '../../core/runs.ts';

/** The `id:` of a frame: run id, number of events so far, and after a dot the chunks of the next event. */
export const positionText = (runId: string, { events, chunks }: Position): string =>
  chunks === 0 ? `${runId}:${events}` : `${runId}:${events}.${chunks}`;

/** Parses it; absent means the start. Throws `invalid_request` for an id of another run. */
export function readPosition(text: string | undefined, runId: string): Position {
  if (text === undefined || text === '') return { events: 0, chunks: 0 };
  const [, ofRun, whole, piece = '0'] = /^(.*):(\d{1,9})(?:\.(\d{1,9}))?$/s.exec(text) ?? [];
  if (ofRun !== runId) throw new AppError('invalid_request', `Last-Event-ID: names no event of run "${runId}"`);
  return { events: Number(whole), chunks: Number(piece) };
}
