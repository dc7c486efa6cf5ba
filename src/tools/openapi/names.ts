/** Characters of a name that are read, many more than are kept. */
const maxSource = 500;

/** `getPetById` and `Get pet-by ID` both become `get_pet_by_id`. Keeps only ASCII letters and digits. */
export function snakeCase(text: string): string {
  return text
    .slice(0, maxSource)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
}

const maxToolName = 60;

/** The name of an operation's tool: from its id, else from its path and method. */
export function operationName(id: string | undefined, path: string, method: string): string {
  const name = snakeCase(id ?? '') || snakeCase(`${path}_${method}`) || 'operation';
  return (/^\d/.test(name) ? `_${name}` : name).slice(0, maxToolName);
}

/** The first free one of `name`, `name_2`, `name_3` … Adds it to `taken`. */
export function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) {
    const suffix = `_${count}`;
    free = `${name.slice(0, maxToolName - suffix.length)}${suffix}`;
  }
  taken.add(free);
  return free;
}
