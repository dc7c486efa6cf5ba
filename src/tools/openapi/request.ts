import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { RequestAdditions } from '../auth/apply-credential.ts';
import type { Server } from './document.ts';
import type { OperationInput, Parameter } from './parameters.ts';
import { serializePairs, serializeSimple } from './serialize.ts';

export interface OperationRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | URLSearchParams | FormData | Uint8Array<ArrayBuffer>;
}

interface Target {
  readonly method: string;
  /** Absolute URL of the service, without a slash at the end. */
  readonly server: string;
  readonly path: string;
}

/** The URL of the first server, its variables filled in. Throws ConfigurationException unless it is absolute. */
export function serverAddress(servers: readonly Server[], baseUrl: string | undefined): string {
  const { url = '/', variables = {} } = servers[0] ?? {};
  const filled = url.replace(/\{([^{}]*)\}/g, (_match, name: string) => String(variables[name]?.default ?? ''));
  const address = URL.canParse(filled, baseUrl) ? new URL(filled, baseUrl) : undefined;
  if (address && /^https?:$/.test(address.protocol)) return `${address.origin}${address.pathname}`.replace(/\/+$/, '');
  throw new AppError(
    'ConfigurationException',
    `The OpenAPI document names no usable server (${JSON.stringify(filled)}): give one`,
  );
}

/** The HTTP request for a call. Throws `invalid_request` when an argument would lead to another path. */
export function operationRequest(
  target: Target,
  input: OperationInput,
  args: JsonObject,
  additions: RequestAdditions,
): OperationRequest {
  const given = input.parameters.filter(({ argument }) => args[argument] !== undefined);
  const at = (...places: Parameter['place'][]): Parameter[] => given.filter(({ place }) => places.includes(place));
  const pairs = (parameters: Parameter[]): (readonly [string, string])[] =>
    parameters.flatMap((parameter) => serializePairs(parameter, args[parameter.argument]));

  const url = addressOf(target, at('path'), args);
  for (const [name, value] of [...pairs(at('query')), ...Object.entries(additions.query)]) {
    url.searchParams.append(name, value);
  }
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.5' });
  for (const parameter of at('header')) {
    headers.set(parameter.name, serializeSimple(parameter, args[parameter.argument], String));
  }
  const cookies = [...pairs(at('cookie')), ...Object.entries(additions.cookies)];
  if (cookies.length > 0)
    headers.set('cookie', cookies.map((pair) => pair.map(encodeURIComponent).join('=')).join('; '));
  for (const [name, value] of Object.entries(additions.headers)) headers.set(name, value);
  const body = bodyOf(input, at('body', 'whole'), args);
  // FormData sets its own content type, with the boundary.
  if (body !== undefined && input.bodyType && !(body instanceof FormData)) headers.set('content-type', input.bodyType);
  return { method: target.method, url, headers, ...(body !== undefined && { body }) };
}

function addressOf({ server, path }: Target, parameters: Parameter[], args: JsonObject): URL {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const filled = path.replace(/\{([^{}]+)\}/g, (_match, name: string) => {
    const parameter = byName.get(name);
    const text = parameter ? serializeSimple(parameter, args[parameter.argument], encodeURIComponent) : '';
    if (text === '') throw new AppError('invalid_request', `The argument for "${name}" of "${path}" is empty`);
    return text;
  });
  // URLs cannot escape dots, so these segments would call another operation.
  if (filled.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) {
    throw new AppError('invalid_request', `The arguments lead out of the path "${path}"`);
  }
  return new URL(server + filled);
}

function bodyOf(input: OperationInput, parameters: Parameter[], args: JsonObject): OperationRequest['body'] {
  const { bodyType = '', isBodyRequired } = input;
  if (parameters.length === 0 && !isBodyRequired) return undefined;
  const [only] = parameters;
  const content =
    only?.place === 'whole'
      ? args[only.argument]
      : Object.fromEntries(parameters.map(({ name, argument }) => [name, args[argument]]));
  if (/^application\/json\b|\+json\b/.test(bodyType)) return JSON.stringify(content);
  if (bodyType.startsWith('application/x-www-form-urlencoded')) {
    return new URLSearchParams(
      parameters.flatMap((one) =>
        serializePairs(one, args[one.argument]).map(([key, value]): [string, string] => [key, value]),
      ),
    );
  }
  if (bodyType.startsWith('multipart/')) return formOf(parameters, args);
  if (typeof content !== 'string') return JSON.stringify(content);
  return bodyType.startsWith('text/') || !isBase64(content) ? content : Uint8Array.from(Buffer.from(content, 'base64'));
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[\w+/-]*={0,2}$/.test(text);

function formOf(parameters: Parameter[], args: JsonObject): FormData {
  const form = new FormData();
  for (const { name, argument, schema } of parameters) {
    const value = args[argument];
    if (schema['format'] === 'binary' && typeof value === 'string') {
      const bytes = isBase64(value) ? Buffer.from(value, 'base64') : Buffer.from(value);
      form.append(name, new Blob([Uint8Array.from(bytes)]), name);
    } else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}
