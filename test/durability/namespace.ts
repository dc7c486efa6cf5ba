import { spawnSync } from 'node:child_process';

/** In a namespace of its own, a program may mount disks without being root: what `unshare` is told. */
export const namespace = ['--map-root-user', '--mount'];

/** Whether this machine allows that. */
export const mayMount = (folder: string): boolean =>
  spawnSync('unshare', [...namespace, 'mount', '-t', 'tmpfs', 'none', folder]).status === 0;
