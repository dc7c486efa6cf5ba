import { create } from 'zustand';
import { messageOf } from '../api/server.ts';
import {
  createSession,
  deleteSession,
  patchState,
  readSession,
  type Session,
  type SessionKey,
  type SessionOwner,
} from '../api/sessions.ts';
import { toast } from '../parts/toasts.tsx';
import { useCurrent } from './current.ts';
import { metadataOf, metadataState, sessionAddress, sessionIn, titleOf } from './names.ts';
import { getPlace, navigate, to } from './place.ts';
import { prompt } from './prompts.tsx';
import { refreshSessions } from './queries.ts';
import { changeSettings, useSettings } from './settings.ts';

/** How long a deleted session can be brought back. */
const undoMs = 6_000;

/** Sessions that are gone from the list and can still be brought back. */
export const useRemoved = create(() => ({ ids: [] as readonly string[] }));

export function togglePin(sessionId: string): void {
  const { pinned } = useSettings.getState();
  const without = pinned.filter((id) => id !== sessionId);
  changeSettings({ pinned: without.length < pinned.length ? without : [sessionId, ...pinned] });
}

const complain = (error: unknown): void => void toast(messageOf(error), { tone: 'error' });

/** Asks for a new title. */
export function askToRename(key: SessionKey, title: string): void {
  const rename = async (displayName: string): Promise<void> => {
    try {
      const session = await readSession(key, { recent: 1 });
      const changed = await patchState(key, metadataState({ ...metadataOf(session), displayName }));
      const { workspace } = useCurrent.getState();
      if (workspace?.key.sessionId === key.sessionId) workspace.log.setState(changed.state);
      await refreshSessions(key);
    } catch (error) {
      complain(error);
    }
  };
  prompt({
    title: 'Rename session',
    label: 'Title',
    action: 'Rename',
    value: title,
    onSubmit: (text) => void rename(text.trim()),
  });
}

/** Takes a session from the list at once; from the server when it is too late to undo. */
export function removeSession(key: SessionKey, title: string): void {
  const { sessionId } = key;
  const show = (isShown: boolean): void =>
    useRemoved.setState(({ ids }) => ({ ids: isShown ? ids.filter((id) => id !== sessionId) : [...ids, sessionId] }));
  show(false);
  const address = getPlace().path;
  const wasOpen = sessionIn(address)?.sessionId === sessionId;
  if (wasOpen) navigate(to('/apps/:app', { app: key.appName }));
  const remove = async (): Promise<void> => {
    window.removeEventListener('pagehide', atOnce);
    try {
      await deleteSession(key);
    } catch (error) {
      show(true);
      complain(error);
    }
    await refreshSessions(key);
  };
  const atOnce = (): void => void remove(); // a page that goes away cannot be asked to undo
  window.addEventListener('pagehide', atOnce);
  const timer = setTimeout(atOnce, undoMs);
  toast(`Deleted “${title}”`, {
    action: {
      label: 'Undo',
      run() {
        clearTimeout(timer);
        window.removeEventListener('pagehide', atOnce);
        show(true);
        if (wasOpen) navigate(address);
      },
    },
  });
}

/** Saves the session as one JSON file, in the shape the API has. */
export async function exportSession(key: SessionKey): Promise<void> {
  try {
    const session = await readSession(key);
    const name = titleOf(session)
      .replaceAll(/[^\w -]+/g, '_')
      .slice(0, 60);
    download(`${name}.json`, JSON.stringify(session, undefined, 2));
  } catch (error) {
    complain(error);
  }
}

/** Saves something as a file. */
export function download(name: string, content: BlobPart, type = 'application/json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Makes a session of an exported one, with its events and state under a new id, and goes there. */
export async function importFile(owner: SessionOwner, file: File | undefined): Promise<void> {
  if (!file) return;
  try {
    const { state = {}, events = [] } = JSON.parse(await file.text()) as Partial<Session>;
    const { id } = await createSession(owner, { state, events });
    await refreshSessions(owner);
    navigate(sessionAddress({ ...owner, sessionId: id }));
  } catch (error) {
    toast(`“${file.name}” cannot be imported: ${messageOf(error)}`, { tone: 'error' });
  }
}
