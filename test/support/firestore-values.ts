/** A value as Firestore's JSON has it. */
export interface FirestoreValue {
  readonly nullValue?: null | 0;
  readonly booleanValue?: boolean;
  readonly integerValue?: string;
  readonly doubleValue?: number | string;
  readonly timestampValue?: string;
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly referenceValue?: string;
  readonly mapValue?: { readonly fields?: FirestoreFields };
  readonly arrayValue?: { readonly values?: readonly FirestoreValue[] };
}
export interface FirestoreFields {
  [name: string]: FirestoreValue;
}

/** The names in a field path: `a.b`, or quoted with backticks. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(/`((?:[^`\\]|\\.)*)`|([^.`]+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/g, '$1'),
  );
}

export function fieldAt(fields: FirestoreFields, [name = '', ...rest]: readonly string[]): FirestoreValue | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return rest.length === 0 ? value : value?.mapValue && fieldAt(value.mapValue.fields ?? {}, rest);
}

/** The fields with one of them set, or without it. */
export function withField(
  fields: FirestoreFields,
  [name = '', ...rest]: readonly string[],
  value: FirestoreValue | undefined,
): FirestoreFields {
  const { [name]: old, ...others } = fields;
  if (rest.length > 0) {
    return { ...others, [name]: { mapValue: { fields: withField(old?.mapValue?.fields ?? {}, rest, value) } } };
  }
  return value === undefined ? others : { ...others, [name]: value };
}

const ranks = ['nullValue', 'booleanValue', 'integerValue', 'timestampValue', 'stringValue', 'bytesValue'];

/** Firestore's order of values, of the types our stores ask by. */
export function compareValues(one: FirestoreValue, other: FirestoreValue): number {
  const [a, b] = [one, other].map((value) => {
    const [kind = '', content] = Object.entries(value)[0] ?? [];
    const isNumber = kind === 'integerValue' || kind === 'doubleValue';
    return { rank: isNumber ? 2 : ranks.indexOf(kind), content: isNumber ? Number(content) : String(content) };
  });
  if (a!.rank !== b!.rank) return a!.rank - b!.rank;
  if (a!.content === b!.content) return 0;
  return a!.content < b!.content ? -1 : 1;
}

/** Bytes of a document, about as Firestore counts them. */
export const sizeOf = (fields: FirestoreFields): number =>
  Object.entries(fields).reduce((sum, [name, value]) => {
    const inner = value.mapValue ? sizeOf(value.mapValue.fields ?? {}) : 0;
    const text = value.stringValue === undefined ? 0 : Buffer.byteLength(value.stringValue);
    const bytes = value.bytesValue === undefined ? 8 : Buffer.from(value.bytesValue, 'base64').length;
    return sum + Buffer.byteLength(name) + 1 + inner + text + bytes;
  }, 0);
