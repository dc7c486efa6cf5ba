import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Part } from '../../schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';
import { type PendingRequest, pendingRequests } from '../../tools/pending-requests.ts';

/** A question to the user at the terminal, and how to read the answer. */
export interface UserPrompt {
  readonly text: string;
  readonly prompt: string;
  /** The part that answers it. */
  answer(line: string): Part;
}

/** The unanswered questions of a history, oldest first. */
export function pendingPrompts(events: readonly Event[]): UserPrompt[] {
  return [...pendingRequests(events).map(promptFor), ...openChoices(events)];
}

function promptFor(request: PendingRequest): UserPrompt {
  if (request.kind === 'confirmation') return confirmation(request);
  return request.kind === 'credential' ? credential(request) : input(request);
}

function confirmation(request: PendingRequest): UserPrompt {
  const { message = '', payload, toolName = 'a tool' } = request;
  const wantsPayload = payload !== undefined && payload !== null;
  const shown = wantsPayload ? `\n  with ${JSON.stringify(payload)}` : '';
  return {
    text: `? ${toolName}: ${message === '' ? 'Allow this call?' : message}${shown}`,
    prompt: wantsPayload ? 'y, n, or other JSON> ' : 'y or n> ',
    answer: (line) => {
      const typed = jsonIn(line);
      if (isJsonObject(typed) || Array.isArray(typed)) return reply(request, { confirmed: true, payload: typed });
      const confirmed = /^(?:y|yes|true)$/i.test(line.trim());
      return reply(request, confirmed && wantsPayload ? { confirmed, payload } : { confirmed });
    },
  };
}

function input(request: PendingRequest): UserPrompt {
  const { message = 'The agent needs an answer.', payload, responseSchema } = request;
  const details = [
    ...(payload === undefined ? [] : [`  about ${JSON.stringify(payload)}`]),
    ...(responseSchema ? [`  expected as JSON: ${JSON.stringify(responseSchema)}`] : []),
  ];
  const wantsText = responseSchema === undefined || responseSchema['type'] === 'string';
  return {
    text: [`? ${message}`, ...details].join('\n'),
    prompt: 'answer> ',
    answer: (line) => {
      const typed = wantsText ? undefined : jsonIn(line);
      return reply(request, isJsonObject(typed) ? typed : { result: typed ?? line });
    },
  };
}

function credential(request: PendingRequest): UserPrompt {
  const { authConfig = {} } = request;
  const exchanged = isJsonObject(authConfig['exchangedAuthCredential']) ? authConfig['exchangedAuthCredential'] : {};
  const oauth2 = isJsonObject(exchanged['oauth2']) ? exchanged['oauth2'] : {};
  const answered = (credentialGiven: JsonObject): Part =>
    reply(request, { ...authConfig, exchangedAuthCredential: credentialGiven });
  if (typeof oauth2['authUri'] === 'string') {
    return {
      text: `? Sign in at ${oauth2['authUri']}\n  and paste the address of the page that opens then.`,
      prompt: 'address> ',
      answer: (line) => answered({ ...exchanged, oauth2: { ...oauth2, authResponseUri: line.trim() } }),
    };
  }
  const scheme = isJsonObject(authConfig['authScheme']) ? authConfig['authScheme'] : {};
  const isBearer = scheme['type'] === 'http';
  return {
    text: `? "${request.author}" needs ${isBearer ? 'a token' : 'an API key'}.`,
    prompt: isBearer ? 'token> ' : 'key> ',
    answer: (line) => {
      const secret = line.trim();
      if (!isBearer) return answered({ authType: 'apiKey', apiKey: secret });
      return answered({ authType: 'http', http: { scheme: 'bearer', credentials: { token: secret } } });
    },
  };
}

/** Open calls of `get_user_choice`: the only long-running tool that waits for a person without a request event. */
function openChoices(events: readonly Event[]): UserPrompt[] {
  const open = new Map<string, UserPrompt>();
  for (const event of events) {
    for (const { id, name, args } of functionCalls(event)) {
      const options = args?.['options'];
      if (id === undefined || name !== 'get_user_choice' || !Array.isArray(options)) continue;
      open.set(id, choice({ interruptId: id, functionCallName: name }, options.map(String)));
    }
    if (event.author !== 'user') continue;
    for (const { id } of functionResponses(event)) if (id !== undefined) open.delete(id);
  }
  return [...open.values()];
}

function choice(request: Replied, options: readonly string[]): UserPrompt {
  return {
    text: ['? Choose:', ...options.map((option, index) => `  ${index + 1}  ${option}`)].join('\n'),
    prompt: 'number or text> ',
    answer: (line) => reply(request, { result: options[Number(line.trim()) - 1] ?? line }),
  };
}

type Replied = Pick<PendingRequest, 'interruptId' | 'functionCallName'>;

const reply = ({ interruptId, functionCallName }: Replied, response: JsonObject): Part => ({
  functionResponse: { id: interruptId, name: functionCallName, response },
});

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // plain text
  }
}
