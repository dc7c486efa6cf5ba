import { create } from 'zustand';
import type { SessionKey } from '../../../../src/schemas/session.ts';

/** The source of a new case: a session, or one turn of it. */
export interface ToSave {
  readonly key: SessionKey;
  readonly invocationId?: string;
}

export const useSaving = create(() => ({ asked: undefined as ToSave | undefined }));
export const askToSave = (asked: ToSave | undefined): void => useSaving.setState({ asked });
