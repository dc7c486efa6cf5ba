import type { PyodideAPI } from 'pyodide';
import type { FileBox } from '../file-box.ts';
import type { WorkerFile, WorkerSetup } from '../worker-messages.ts';

const home = '/home/pyodide';
const maxDepth = 8;
const maxEntries = 1000;
/** The file system's error number for "no space left". */
const noSpace = 51;

interface Node {
  readonly usedBytes?: number;
}
/** Members of the file system that its types do not have. */
interface OpenFileSystem {
  write: (stream: { node: Node; position: number }, ...rest: [unknown, number, number, number?, boolean?]) => number;
  filesystems: { MEMFS: Record<'expandFileStorage' | 'resizeFileStorage', (node: Node, size: number) => void> };
  ErrnoError: new (code: number) => Error;
}

/** The working folder of the code. It is in memory, and has the same limit as the memory of the code. */
export class PythonFiles {
  readonly #fs: PyodideAPI['FS'];
  /** The folder's files before the code ran, by path. */
  #before = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor({ FS }: PyodideAPI, setup: WorkerSetup) {
    this.#fs = FS;
    limitSize(FS, setup.memoryBytes);
  }

  open(files: readonly WorkerFile[]): void {
    for (const { name, bytes } of files) {
      const path = `${home}/${name}`;
      this.#fs.mkdirTree(path.slice(0, path.lastIndexOf('/')));
      this.#fs.writeFile(path, bytes);
    }
    this.#before = new Map(this.#all().map(({ path, bytes }) => [path, bytes]));
  }

  /** Adds new and changed files to the box. Throws when they exceed its limits. */
  collect(box: FileBox): void {
    for (const { path, bytes } of this.#all()) {
      const before = this.#before.get(path);
      if (before && isSame(before, bytes)) continue;
      box.write(path, bytes);
    }
  }

  #all(): { path: string; bytes: Uint8Array<ArrayBuffer> }[] {
    const found: { path: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
    let entries = 0;
    const visit = (folder: string, depth: number): void => {
      for (const name of this.#fs.readdir(`${home}/${folder}`) as string[]) {
        if (name === '.' || name === '..') continue;
        if ((entries += 1) > maxEntries) throw new Error(`no more than ${maxEntries} files and folders may be kept`);
        const path = folder + name;
        const { mode } = this.#fs.lstat(`${home}/${path}`) as { mode: number };
        if (this.#fs.isDir(mode)) {
          if (depth < maxDepth && name !== '__pycache__') visit(`${path}/`, depth + 1);
        } else if (this.#fs.isFile(mode)) {
          found.push({ path, bytes: (this.#fs.readFile(`${home}/${path}`) as Uint8Array).slice() });
        }
      }
    };
    visit('', 0);
    return found;
  }
}

function limitSize(fs: OpenFileSystem, most: number): void {
  let taken = 0;
  const take = (node: Node, size: number): void => {
    taken += Math.max(0, size - (node.usedBytes ?? 0));
    if (taken > most) throw new fs.ErrnoError(noSpace);
  };
  const write = fs.write;
  fs.write = (stream, ...rest) => {
    const [, , length, position] = rest;
    if (stream.node.usedBytes !== undefined) take(stream.node, (position ?? stream.position) + length);
    return write.call(fs, stream, ...rest);
  };
  const memory = fs.filesystems.MEMFS;
  const resize = memory.resizeFileStorage;
  memory.resizeFileStorage = (node, size) => {
    take(node, size);
    resize.call(memory, node, size);
  };
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index]);
