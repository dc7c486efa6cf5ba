import { redact } from '../../base/redact.ts';

/** Bytes read of a response body; the rest is ignored. */
const maxBytes = 1_000_000;
/** Characters of the body in an error for the model. */
const maxErrorCharacters = 2000;

/**
 * A response as a tool result: JSON as a value, text as text, other content as a description, and `{ error, status }`
 * for a failure. Long bodies are truncated, with a note.
 */
export async function operationResult(response: Response): Promise<unknown> {
  const { status, statusText } = response;
  const location = response.headers.get('location');
  const { text, isCut } = await readText(response);
  if (status >= 300 && status < 400) {
    return { error: `The service has moved${location === null ? '' : ` to ${location}`}`, status };
  }
  if (!response.ok) return { error: errorMessage(status, statusText, text), status };
  if (text === '') return { status };
  const type = response.headers.get('content-type') ?? '';
  if (/^(?:image|audio|video|font)\/|^application\/(?:octet-stream|pdf|zip)/.test(type)) {
    return { status, contentType: type, message: 'The answer is a file, which cannot be shown.' };
  }
  if (isCut) return { text, truncated: true };
  return parsed(text);
}

const errorMessage = (status: number, statusText: string, text: string): string =>
  `The service answered ${status} ${statusText}`.trim() +
  (text === '' ? '' : `: ${redact(text.slice(0, maxErrorCharacters).toWellFormed())}`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function readText(response: Response): Promise<{ text: string; isCut: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // `break` cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes)
      return { text: text + decoder.decode(chunk.subarray(0, maxBytes - size + chunk.length)), isCut: true };
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), isCut: false };
}
