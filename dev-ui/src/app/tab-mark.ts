import failed from './tab-icons/failed.svg';
import running from './tab-icons/running.svg';
import waiting from './tab-icons/waiting.svg';
import type { Workspace } from './workspace.ts';

const marks = {
  running: { sign: '… ', icon: running },
  failed: { sign: '✕ ', icon: failed },
  waiting: { sign: '! ', icon: waiting },
  idle: { sign: '', icon: undefined },
};

/** The status of a session in the tab icon: running, failed, or waiting for the user. */
function markOf({ log, run }: Workspace): (typeof marks)[keyof typeof marks] {
  if (run.status === 'running' || run.status === 'failed') return marks[run.status];
  return log.pending.size > 0 ? marks.waiting : marks.idle;
}

let usual: string | undefined;

/** Shows title and status of the session in the browser tab. Returns a function that resets the tab. */
export function markTab(workspace: Workspace, title: string): () => void {
  const { sign, icon } = markOf(workspace);
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  document.title = `${sign}${title} – agent-server`;
  if (!link) return () => {};
  usual ??= link.href;
  link.href = icon ?? usual;
  return () => {
    link.href = usual ?? link.href;
  };
}
