import { compareValues, fieldAt, type FirestoreFields, type FirestoreValue, namesIn } from './firestore-values.ts';

export interface FirestoreDocument {
  readonly name: string;
  readonly fields: FirestoreFields;
  readonly createTime: string;
  readonly updateTime: string;
}

interface FieldFilter {
  readonly field: { readonly fieldPath: string };
  readonly op: number;
  readonly value: FirestoreValue;
}
interface Filter {
  readonly fieldFilter?: FieldFilter;
  readonly compositeFilter?: { readonly filters: readonly Filter[] };
}
export interface StructuredQuery {
  readonly from: readonly { readonly collectionId: string; readonly allDescendants?: boolean }[];
  readonly where?: Filter;
  readonly orderBy?: readonly { readonly field: { readonly fieldPath: string }; readonly direction?: number }[];
  readonly startAt?: { readonly values: readonly FirestoreValue[]; readonly before?: boolean };
  readonly limit?: number;
}

/** The operators by their numbers in the API. */
const operators: Readonly<Record<number, (found: FirestoreValue, wanted: FirestoreValue) => boolean>> = {
  1: (found, wanted) => compareValues(found, wanted) < 0,
  2: (found, wanted) => compareValues(found, wanted) <= 0,
  3: (found, wanted) => compareValues(found, wanted) > 0,
  4: (found, wanted) => compareValues(found, wanted) >= 0,
  5: (found, wanted) => compareValues(found, wanted) === 0,
  9: (found, wanted) =>
    (found.arrayValue?.values ?? []).some((value) =>
      (wanted.arrayValue?.values ?? []).some((one) => compareValues(value, one) === 0),
    ),
};
const equal = 5;
const containsAny = 9;
const documentName = '__name__';

/** What a query finds. Throws for one that a real database has no index for, unless somebody makes one. */
export function runQuery(
  documents: Iterable<FirestoreDocument>,
  parent: string,
  { from, where, orderBy = [], startAt, limit }: StructuredQuery,
): FirestoreDocument[] {
  const filters = filtersIn(where);
  refuseUnindexed(filters, orderBy);
  const { collectionId, allDescendants = false } = from[0]!;
  const isIn = (name: string): boolean => {
    const path = name.startsWith(`${parent}/`) ? name.slice(parent.length + 1).split('/') : [];
    return allDescendants ? path.at(-2) === collectionId : path.length === 2 && path[0] === collectionId;
  };
  const implied = filters.find(({ op }) => op < equal)?.field.fieldPath;
  const orders = [...orderBy];
  if (orders.length === 0 && implied !== undefined) orders.push({ field: { fieldPath: implied } });
  orders.push({ field: { fieldPath: documentName } });
  const valueOf = ({ name, fields }: FirestoreDocument, path: string): FirestoreValue | undefined =>
    path === documentName ? { stringValue: name } : fieldAt(fields, namesIn(path));
  const compare = (values: (path: string, index: number) => [FirestoreValue, FirestoreValue] | undefined): number => {
    for (const [index, { field, direction }] of orders.entries()) {
      const pair = values(field.fieldPath, index);
      if (!pair) return 0;
      const order = compareValues(...pair);
      if (order !== 0) return direction === 2 ? -order : order;
    }
    return 0;
  };
  const found = [...documents]
    .filter((document) => isIn(document.name))
    .filter((document) =>
      filters.every(({ field, op, value }) => {
        const own = valueOf(document, field.fieldPath);
        return own !== undefined && operators[op]!(own, value);
      }),
    )
    .filter((document) => orders.every(({ field }) => valueOf(document, field.fieldPath) !== undefined))
    .toSorted((a, b) => compare((path) => [valueOf(a, path)!, valueOf(b, path)!]))
    .filter((document) => {
      if (!startAt) return true;
      const place = compare((path, index) => {
        const value = startAt.values[index];
        const plain = value?.referenceValue === undefined ? value : { stringValue: value.referenceValue };
        return plain && [valueOf(document, path)!, plain];
      });
      return startAt.before ? place >= 0 : place > 0;
    });
  return found.slice(0, limit);
}

const filtersIn = (filter: Filter | undefined): FieldFilter[] =>
  filter?.fieldFilter ? [filter.fieldFilter] : (filter?.compositeFilter?.filters ?? []).flatMap(filtersIn);

/** Fields have an index each. Equalities may be merged; anything more asks for an index of several fields. */
function refuseUnindexed(filters: readonly FieldFilter[], orderBy: NonNullable<StructuredQuery['orderBy']>): void {
  const fields = new Set(filters.filter(({ op }) => op !== equal).map(({ field }) => field.fieldPath));
  for (const { field } of orderBy) if (field.fieldPath !== documentName) fields.add(field.fieldPath);
  const equals = new Set(filters.filter(({ op }) => op === equal).map(({ field }) => field.fieldPath));
  if (fields.size > 1 || (fields.size === 1 && equals.size > 0)) throw new Error('The query requires an index');
  for (const { op, value } of filters) {
    if (op === containsAny && (value.arrayValue?.values?.length ?? 0) > 30) throw new Error('Too many disjunctions');
  }
}
