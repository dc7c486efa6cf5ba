const pageBytes = 64 * 1024;

/** The memory of a WebAssembly program; the types of Node do not have it. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WithWebAssembly {
  readonly WebAssembly: { readonly Memory: { readonly prototype: Memory } };
}

/**
 * Limits the WebAssembly memory of this thread's interpreter, which starts with `initialBytes`: after `begin` it may
 * grow by `bytes`. Beyond that, allocations fail, which the code sees as an error of its own language.
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
