import { nameFault } from '../schemas/names.ts';
import type { WorkerFile, WorkerSetup } from './worker-messages.ts';

/** The files of one code execution: its input files and those it writes. */
export class FileBox {
  readonly #setup: WorkerSetup;
  readonly #files = new Map<string, WorkerFile>();
  readonly #written = new Set<string>();

  constructor(setup: WorkerSetup) {
    this.#setup = setup;
  }

  /** Adds the input files of an execution. Files of earlier executions stay. */
  open(files: readonly WorkerFile[]): void {
    this.#written.clear();
    for (const file of files) this.#files.set(file.name, file);
  }

  names(): string[] {
    return [...this.#files.keys()];
  }

  read(name: string): Uint8Array {
    const file = this.#files.get(name);
    if (file) return file.bytes;
    throw new Error(`There is no file ${JSON.stringify(name)}`);
  }

  /** Throws for an invalid name, and for too many files or bytes. */
  write(name: string, bytes: Uint8Array<ArrayBuffer>, mimeType = mimeTypeOf(name)): void {
    const { maxFiles, maxFileBytes } = this.#setup;
    const fault = nameFault(name, true) ?? nameFault(mimeType, true);
    if (fault !== undefined) throw new Error(`The file name or type ${fault}`);
    const others = this.written().filter((file) => file.name !== name);
    const size = others.reduce((sum, file) => sum + file.bytes.length, bytes.length);
    if (others.length >= maxFiles) throw new Error(`No more than ${maxFiles} files may be written`);
    if (size > maxFileBytes) throw new Error(`Files may take no more than ${maxFileBytes} bytes together`);
    this.#written.add(name);
    this.#files.set(name, { name, mimeType, bytes });
  }

  written(): WorkerFile[] {
    return [...this.#written].flatMap((name) => this.#files.get(name) ?? []);
  }
}

const mimeTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** The MIME type of a file extension. */
export function mimeTypeOf(name: string): string {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return (Object.hasOwn(mimeTypes, end) ? mimeTypes[end] : undefined) ?? 'application/octet-stream';
}
