import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { Part } from '../schemas/content-schema.ts';
import type { A2aPart } from './wire.ts';

/** Types of data parts (`adk_type`), and the field of our part for each. */
const fieldOf = {
  function_call: 'functionCall',
  function_response: 'functionResponse',
  code_execution_result: 'codeExecutionResult',
  executable_code: 'executableCode',
} as const;
type DataType = keyof typeof fieldOf;

/** Data of an unknown type is sent in a text file between these marks, as other ADK servers do. */
const open = '<a2a_datapart_json>';
const close = '</a2a_datapart_json>';

/** Our part as an A2A part; `undefined` for parts without content for a peer. */
export function toA2aPart(part: Part): A2aPart | undefined {
  const metadata = metadataOf(part);
  const described = metadata && { metadata };
  if (part.text !== undefined) return { text: part.text, ...described };
  if (part.inlineData) {
    const { mimeType, data, displayName } = part.inlineData;
    const wrapped = mimeType === 'text/plain' ? unwrapped(data) : undefined;
    if (wrapped) return { data: wrapped.value, ...described };
    return {
      raw: data,
      mediaType: mimeType,
      ...(displayName !== undefined && { filename: displayName }),
      ...described,
    };
  }
  if (part.fileData) {
    const { fileUri, mimeType, displayName } = part.fileData;
    return {
      url: fileUri,
      ...(mimeType !== undefined && { mediaType: mimeType }),
      ...(displayName !== undefined && { filename: displayName }),
      ...described,
    };
  }
  for (const type of dataTypes) {
    const data = part[fieldOf[type]];
    if (data) return { data, metadata: { ...metadata, adk_type: type } };
  }
  return undefined;
}

/**
 * An A2A part as our part; `undefined` without content. Throws MessageConversionException for data that does not fit its
 * `adk_type`.
 */
export function fromA2aPart(part: A2aPart): Part | undefined {
  const { metadata = {}, mediaType, filename } = part;
  const named = { ...(filename !== undefined && { displayName: filename }) };
  const modifiers = modifiersIn(metadata);
  if (part.text !== undefined) return { text: part.text, ...modifiers };
  if (part.raw !== undefined) {
    return {
      inlineData: { mimeType: mediaType ?? 'application/octet-stream', data: part.raw, ...named },
      ...modifiers,
    };
  }
  if (part.url !== undefined) {
    return { fileData: { fileUri: part.url, ...(mediaType && { mimeType: mediaType }), ...named }, ...modifiers };
  }
  if (part.data === undefined) return undefined;
  const type = metadata['adk_type'];
  return isDataType(type) ? labelled(type, part.data) : { inlineData: wrapped(part.data) };
}

/** Ids of the long-running calls among A2A parts. */
export function longRunningIdsIn(parts: readonly A2aPart[]): string[] {
  return parts.flatMap(({ data, metadata = {} }) => {
    const isCall = metadata['adk_type'] === 'function_call' && metadata['adk_is_long_running'] === true;
    const id = isCall && typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined;
    return typeof id === 'string' && id !== '' ? [id] : [];
  });
}

const dataTypes = Object.keys(fieldOf) as DataType[];
const isDataType = (type: unknown): type is DataType => typeof type === 'string' && Object.hasOwn(fieldOf, type);

function metadataOf({ thought, videoMetadata }: Part): JsonObject | undefined {
  if (!thought && videoMetadata === undefined) return undefined;
  return {
    ...(thought && { adk_thought: true }),
    ...(videoMetadata !== undefined && { adk_video_metadata: videoMetadata }),
  };
}

/** ADK for Java writes the keys without a prefix. */
function modifiersIn(metadata: JsonObject): Pick<Part, 'thought' | 'videoMetadata'> {
  const videoMetadata = metadata['adk_video_metadata'] ?? metadata['video_metadata'];
  const thought = metadata['adk_thought'] === true || metadata['thought'] === true;
  return { ...(thought && { thought }), ...(videoMetadata !== undefined && { videoMetadata }) };
}

function labelled(type: DataType, data: unknown): Part {
  const part = Part.safeParse({ [fieldOf[type]]: data });
  if (part.success) return part.data;
  throw new AppError('MessageConversionException', `The remote agent sent an invalid "${type}"`, {
    cause: part.error,
  });
}

const wrapped = (data: unknown): { mimeType: string; data: string } => ({
  mimeType: 'text/plain',
  data: Buffer.from(`${open}${JSON.stringify(data)}${close}`).toString('base64'),
});

/** The data in a wrapped text file; in an object, because `null` is data, too. */
function unwrapped(base64: string): { value: unknown } | undefined {
  if (!base64.startsWith('PGEyYV9kYXRhcGFydF9qc29uP')) return undefined; // the opening mark, without decoding the rest
  const text = Buffer.from(base64, 'base64').toString('utf8');
  if (!text.startsWith(open) || !text.endsWith(close)) return undefined;
  try {
    return { value: JSON.parse(text.slice(open.length, -close.length)) };
  } catch {
    return undefined;
  }
}
