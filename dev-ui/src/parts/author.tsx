const colours = 6;

/** A stable number for a name. */
function colourOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % colours;
}

/** The author of an event: the name, always in the same colour. */
export function Author({ name }: { readonly name: string }) {
  return (
    <span className="author truncate" data-colour={name === 'user' ? 'user' : colourOf(name)} title={name}>
      {name === 'user' ? 'You' : name}
    </span>
  );
}
