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

/** How a session is shown from outside of its page: whether it runs, failed, or waits for its user. */
function markOf({ log, run }: Workspace): (typeof marks)[keyof typeof marks] {
  if (run.status === 'running' || run.status === 'failed') return marks[run.status];
  return log.pending.size > 0 ? marks.waiting : marks.idle;
}

let usual: string | undefined;

/** Has the browser's tab say what the session is and how it is, by title and icon. Returns what takes that back. */
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
