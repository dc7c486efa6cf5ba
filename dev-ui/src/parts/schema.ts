/** The part of JSON Schema that forms support. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** The type a field of a form has; Gemini writes types in capitals. */
export function typeOf({ type, properties }: Schema): string {
  const one = Array.isArray(type) ? type.find((name) => name !== 'null') : type;
  return typeof one === 'string' ? one.toLowerCase() : properties ? 'object' : 'string';
}

/** Values a form begins with. */
export function startingValue(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const type = typeOf(schema);
  if (type === 'boolean') return false;
  if (type === 'object') {
    const required = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
    return Object.fromEntries(required.map(([name, child]) => [name, startingValue(child)]));
  }
  if (type === 'array') return [];
  return type === 'string' ? '' : undefined;
}
