import type {
  AfterAgentCallback,
  AfterModelCallback,
  AfterToolCallback,
  BeforeAgentCallback,
  BeforeModelCallback,
  BeforeToolCallback,
  JsonObject,
  ToolContext,
} from 'agent-server';

export const greet_once: BeforeAgentCallback = ({ context: { state } }) => {
  if (state.get('greeted') === undefined) state.set('greeted', 'yes');
};

export const sign: AfterAgentCallback = ({ context: { state } }) =>
  state.get('signed') === 'yes' ? undefined : { role: 'model', parts: [{ text: 'Yours, the agent.' }] };

export const refuse_secrets: BeforeModelCallback = ({ request, context: { state } }) => {
  if (!JSON.stringify(request.contents.at(-1)).includes('secret')) return undefined;
  state.set('signed', 'yes');
  return { content: { role: 'model', parts: [{ text: 'I keep that to myself.' }] } };
};

export const shout: AfterModelCallback = ({ response }) => {
  const text = response.content?.parts[0]?.text;
  return text?.startsWith('quiet') ? { ...response, content: { role: 'model', parts: [{ text: 'LOUD' }] } } : undefined;
};

export const known_price: BeforeToolCallback = ({ args, context: { state } }) => {
  if (args['item'] !== 'bread') return undefined;
  state.set('bread_asked', true);
  return { price: 1 };
};

export const add_tax: AfterToolCallback = ({ result }) => ({ ...result, tax: 0.1 });

export function price_of(args: JsonObject, { state }: ToolContext): JsonObject {
  state.set('last_item', args['item']);
  return { price: 99 };
}
