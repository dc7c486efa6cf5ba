/**
 * Makes a value when it is first asked for. For schemas of options and for modules of Node that take time and memory,
 * which programs pay for that only import the package.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
