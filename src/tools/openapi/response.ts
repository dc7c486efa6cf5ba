import { redact } from '../../base/redact.ts';

/** What is read of an answer; the rest is left. */
const maxBytes = 1_000_000;
/** Characters of the body that an error tells the model. */
const maxErrorCharacters = 2000;

/**
 * An answer as a tool result: JSON as it is, text as text, other content by description, and `{ error, status }` for
 * anything but success. Long answers are cut and say so.
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
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes)
      return { text: text + decoder.decode(chunk.subarray(0, maxBytes - size + chunk.length)), isCut: true };
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), isCut: false };
}
