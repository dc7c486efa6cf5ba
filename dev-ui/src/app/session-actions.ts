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
import { getLocation, navigate, to } from './location.ts';
import { metadataOf, metadataState, sessionAddress, sessionIn, titleOf } from './names.ts';
import { prompt } from './prompts.tsx';
import { refreshSessions } from './queries.ts';
import { changeSettings, useSettings } from './settings.ts';

/** How long a deleted session can be restored. */
const undoMs = 6_000;

/** Sessions that are hidden from the list and can still be restored. */
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

/** Removes a session from the list at once, and from the server when it can no longer be restored. */
export function removeSession(key: SessionKey, title: string): void {
  const { sessionId } = key;
  const show = (isShown: boolean): void =>
    useRemoved.setState(({ ids }) => ({ ids: isShown ? ids.filter((id) => id !== sessionId) : [...ids, sessionId] }));
  show(false);
  const address = getLocation().path;
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
  const atOnce = (): void => void remove(); // a closing page has no undo
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

/** Downloads the session as one JSON file, in the shape of the API. */
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

/** Downloads a value as a file. */
export function download(name: string, content: BlobPart, type = 'application/json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Imports an exported session, with its events and state, under a new id, and opens it. */
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
