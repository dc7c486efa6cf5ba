import { ownEvents } from '../core/events/imported-events.ts';
import type { RunContext } from '../core/runtime.ts';
import { type Content, textOf } from '../schemas/content.ts';
import { pendingRequests } from '../tools/pending-requests.ts';

const yes = /^(?:y|yes|ok|okay|sure|approved?|confirm(?:ed)?|accept(?:ed)?|agreed?|go ahead|do it|true)$/;
const no = /^(?:n|no|nope|reject(?:ed)?|den(?:y|ied)|declined?|cancel|stop|do not|don't|false)$/;

/** Characters. A longer text is more than a yes or no. */
const maxCharacters = 100;

/**
 * The message with the answer to the open confirmation, when the run takes plain words for one and the message is nothing
 * but a yes or a no. With more than one open, or other words, it stays what it is.
 */
export function withConfirmation(
  message: Content | undefined,
  { runConfig, session }: RunContext,
): Content | undefined {
  if (!runConfig.plainTextToolConfirmation || !message) return message;
  const confirmed = confirmationIn(message);
  if (confirmed === undefined) return message;
  const [request, ...others] = pendingRequests(ownEvents(session.events)).filter(({ kind }) => kind === 'confirmation');
  if (!request || others.length > 0) return message;
  const { interruptId: id, functionCallName: name } = request;
  return { ...message, parts: [...message.parts, { functionResponse: { id, name, response: { confirmed } } }] };
}

function confirmationIn(message: Content): boolean | undefined {
  if (message.parts.some(({ text }) => text === undefined)) return undefined;
  const text = textOf(message, ' ').trim();
  if (text.length > maxCharacters) return undefined;
  const words = text.toLowerCase().replace(/[.!,\s]+$/, '');
  if (yes.test(words)) return true;
  return no.test(words) ? false : undefined;
}
