import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Event } from '../../../src/schemas/event.ts';
import type { Row } from '../log/rows.ts';
import { late } from '../parts/late.tsx';
import type { Workspace } from './workspace.ts';

type Load<Props> = () => Promise<ComponentType<Props>>;

/** A page at an address such as `/traces/:id`. Its component gets the values of the names in the address. */
export interface PageSpec {
  readonly kind: 'page';
  readonly pattern: string;
  readonly title: string;
  readonly load: Load<{ readonly params: Readonly<Record<string, string>> }>;
  /** The part of the API that it needs and that a server may have switched off, as `/capabilities` calls it. */
  readonly part?: string;
  /** An entry in the left navigation; `appPage` makes its address from the current app (`:app`). */
  readonly nav?: { readonly label: string; readonly icon: LucideIcon; readonly order: number };
}

/** A view in the middle of the workspace, chosen by `?view=<id>`. */
export interface CentreSpec {
  readonly kind: 'centre';
  readonly id: string;
  readonly label: string;
  readonly order: number;
  readonly load: Load<{ readonly workspace: Workspace }>;
}

/** A tab of the inspector, chosen by `?t=<id>`: for the selected event, or for the session when nothing is selected. */
export interface InspectorSpec {
  readonly kind: 'inspector';
  readonly id: string;
  readonly label: string;
  readonly order: number;
  readonly scope: 'event' | 'session' | 'both';
  /** Whether it applies to this event. */
  applies?(event: Event): boolean;
  readonly load: Load<{ readonly workspace: Workspace; readonly event: Event | undefined }>;
}

/** A command, listed in the palette; with an icon and `place` also as a button. */
export interface CommandSpec {
  readonly kind: 'command';
  readonly id: string;
  readonly label: string;
  /** Keyboard shortcut outside of text fields, such as `g t` or `s`. */
  readonly keys?: string;
  readonly icon?: LucideIcon;
  /** Where its button is: the menu of an event, or of the session. */
  readonly place?: 'event' | 'session';
  /** Whether it is enabled now. */
  applies?(context: CommandContext): boolean;
  run(context: CommandContext): void | Promise<void>;
}

export interface CommandContext {
  readonly workspace: Workspace | undefined;
  /** The event the command is about: the selected one, or the one whose menu it was chosen from. */
  readonly event: Event | undefined;
}

/** A slot of the workspace that other views fill: above the conversation, in the composer's bar, or below a row. */
export interface SlotSpec {
  readonly kind: 'slot';
  readonly slot: 'strip' | 'composer' | 'row';
  readonly order: number;
  /** For `row`: whether it adds something below this row. */
  applies?(row: Row): boolean;
  readonly load: Load<{ readonly workspace: Workspace; readonly row: Row | undefined }>;
}

export type Contribution = PageSpec | CentreSpec | InspectorSpec | CommandSpec | SlotSpec;
type Kind = Contribution['kind'];
type Of<K extends Kind> = Extract<Contribution, { kind: K }>;

/** Every folder of `views` declares in `register.ts` what it adds; no other file names it. */
const modules = import.meta.glob<{ readonly contributions: readonly Contribution[] }>('../views/*/register.ts', {
  eager: true,
});
const all = Object.values(modules).flatMap((module) => module.contributions);

const orderOf = (one: Contribution): number => ('order' in one ? one.order : 0);

/** The contributions of a kind, in their order. */
export const contributionsOf = <K extends Kind>(kind: K): Of<K>[] =>
  all.filter((one): one is Of<K> => one.kind === kind).toSorted((a, b) => orderOf(a) - orderOf(b));

interface Loaded<Props> {
  readonly load: Load<Props>;
  readonly title?: string;
  readonly label?: string;
}

const components = new WeakMap<object, unknown>();

/** The component of a contribution, loaded when it is first rendered. */
export function componentOf<Props extends object>(spec: Loaded<Props>): ComponentType<Props> {
  const known = components.get(spec) as ComponentType<Props> | undefined;
  if (known) return known;
  const name = spec.title ?? spec.label;
  const made = late(spec.load, name && `Loading ${name}`);
  components.set(spec, made);
  return made;
}
