import { Copy, GitFork, Link as LinkIcon, Pencil, RotateCcw, Undo2 } from 'lucide-react';
import { forkAndRun, messageBehind, rerun, rewind } from '../../app/branching.ts';
import { getLocation, hrefOf } from '../../app/location.ts';
import { type Move, moveSelection } from '../../app/moves.ts';
import { sessionAddress } from '../../app/names.ts';
import type { CommandContext, Contribution } from '../../app/registry.ts';
import { copyText } from '../../parts/clipboard.ts';

const isIdle = ({ workspace, event }: CommandContext): boolean =>
  workspace !== undefined && event !== undefined && workspace.run.status !== 'running';
const isOpen = ({ workspace }: CommandContext): boolean => workspace !== undefined;
const focus = (id: string) => (): void => document.querySelector<HTMLElement>(id)?.focus();

/** Presses a button of the selected row, or of the last one that has it. */
function press(action: string): void {
  const row = document.querySelector('[data-selected=true]') ?? document;
  const buttons = row.querySelectorAll<HTMLElement>(`[data-action=${action}]`);
  buttons[buttons.length - 1]?.click();
}

const move = (id: Move, label: string, keys: string): Contribution => ({
  kind: 'command',
  id,
  label,
  keys,
  applies: (context) => isOpen(context) && (!id.endsWith('match') || getLocation().query.has('q')),
  run: () => moveSelection(id),
});

export const contributions: readonly Contribution[] = [
  { kind: 'centre', id: 'chat', label: 'Chat', order: 0, load: async () => (await import('./chat.tsx')).Chat },
  move('next', 'Next event', 'j'),
  move('previous', 'Previous event', 'k'),
  move('next-turn', 'Next turn', ']'),
  move('previous-turn', 'Previous turn', '['),
  move('next-match', 'Next event that matches the filter', 'n'),
  move('previous-match', 'Previous event that matches the filter', 'N'),
  { kind: 'command', id: 'filter', label: 'Filter events', keys: '/', applies: isOpen, run: focus('#filter') },
  { kind: 'command', id: 'write', label: 'Write a message', keys: 'm', run: focus('#composer') },
  {
    kind: 'command',
    id: 'stop',
    label: 'Stop the run',
    keys: '.',
    applies: ({ workspace }) => workspace?.run.status === 'running',
    run: ({ workspace }) => workspace?.stop(),
  },
  {
    kind: 'command',
    id: 'open',
    label: 'Expand or collapse the event',
    keys: 'o',
    applies: ({ event }) => event !== undefined,
    run: toggleSelected,
  },
  {
    kind: 'command',
    id: 'edit',
    label: 'Edit message and run again',
    keys: 'e',
    icon: Pencil,
    applies: (context) => isIdle(context) && context.event?.author === 'user',
    run: () => press('edit'),
  },
  {
    kind: 'command',
    id: 'rerun',
    label: 'Run this turn again in a fork',
    keys: 'r',
    icon: RotateCcw,
    place: 'event',
    applies: (context) => isIdle(context) && hasMessage(context),
    run: async ({ workspace, event }) => {
      if (workspace && event) await rerun(workspace, event);
    },
  },
  {
    kind: 'command',
    id: 'fork',
    label: 'Fork after this event',
    keys: 'f',
    icon: GitFork,
    place: 'event',
    applies: isIdle,
    run: async ({ workspace, event }) => {
      if (workspace && event) await forkAndRun(workspace, { at: { eventId: event.id }, change: 'fork' });
    },
  },
  {
    kind: 'command',
    id: 'rewind',
    label: 'Rewind to before this turn',
    icon: Undo2,
    place: 'event',
    applies: isIdle,
    run: async ({ workspace, event }) => {
      if (workspace && event) await rewind(workspace, event);
    },
  },
  {
    kind: 'command',
    id: 'link',
    label: 'Copy link to this event',
    keys: 'y',
    icon: LinkIcon,
    place: 'event',
    applies: ({ event }) => event !== undefined,
    run: ({ workspace, event }) =>
      workspace && event
        ? copyText(window.location.origin + hrefOf(sessionAddress(workspace.key, { e: event.id })), 'Link copied')
        : undefined,
  },
  {
    kind: 'command',
    id: 'copy',
    label: 'Copy text',
    icon: Copy,
    place: 'event',
    applies: ({ event }) => event?.content?.parts.some((part) => part.text !== undefined) ?? false,
    run: ({ event }) => copyText((event?.content?.parts ?? []).map((part) => part.text ?? '').join('')),
  },
];

function hasMessage({ workspace, event }: CommandContext): boolean {
  return workspace !== undefined && event !== undefined && messageBehind(workspace, event) !== undefined;
}

function toggleSelected(): void {
  document.querySelector<HTMLElement>('[data-selected=true] [aria-expanded]')?.click();
}
