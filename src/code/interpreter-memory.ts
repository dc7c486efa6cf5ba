const pageBytes = 64 * 1024;

/** The memory of a WebAssembly program, which the types of Node leave out. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WithWebAssembly {
  readonly WebAssembly: { readonly Memory: { readonly prototype: Memory } };
}

/**
 * Watches how much WebAssembly memory the interpreter of this thread takes, which begins with `initialBytes`: from
 * `begin` on it may grow by so many bytes, and is refused more, which code sees as an error of its own language.
 */
export function limitMemory(bytes: number, initialBytes: number): { begin(): void } {
  let ceiling = Infinity;
  let taken = initialBytes;
  const { prototype } = (globalThis as unknown as WithWebAssembly).WebAssembly.Memory;
  const grow = Reflect.get(prototype, 'grow');
  prototype.grow = function limited(this: Memory, pages: number): number {
    const wanted = this.buffer.byteLength + pages * pageBytes;
    if (wanted > ceiling) throw new RangeError('Out of memory');
    const before = grow.call(this, pages);
    taken = Math.max(taken, wanted);
    return before;
  };
  return {
    begin: () => {
      ceiling = taken + bytes;
    },
  };
}
