import { z } from 'zod';

/**
 * What the official UI accepts as a span. It refuses the whole trace for one span that breaks a rule, so the tests
 * hold every list of spans against this.
 */
const known = {
  'gen_ai.usage.input_tokens': z.number().optional(),
  'gen_ai.usage.output_tokens': z.number().optional(),
  'gen_ai.response.finish_reasons': z.array(z.string()).optional(),
  'gcp.vertex.agent.event_id': z.string().optional(),
  'gcp.vertex.agent.invocation_id': z.string().optional(),
  'gcp.vertex.agent.llm_request': z.string().optional(),
  'gcp.vertex.agent.llm_response': z.string().optional(),
};
const present = z.union([z.string(), z.number(), z.boolean(), z.array(z.unknown()), z.record(z.string(), z.unknown())]);

const Attributes = z.looseObject(known).superRefine((attributes, ctx) => {
  const refuse = (message: string): void => ctx.addIssue({ code: 'custom', message });
  for (const [key, value] of Object.entries(attributes)) {
    if (!present.safeParse(value).success) refuse(`"${key}" is ${JSON.stringify(value)}`);
  }
  const operation = attributes['gen_ai.operation.name'];
  const isText = (key: string): boolean => typeof attributes[key] === 'string';
  if (operation === 'invoke_agent' && !isText('gen_ai.conversation.id')) refuse('invoke_agent without conversation id');
  if (operation === 'generate_content') {
    for (const key of ['gcp.vertex.agent.event_id', 'gcp.vertex.agent.invocation_id']) {
      if (!isText(key)) refuse(`generate_content without ${key}`);
    }
  }
});

const Log = z.looseObject({
  event_name: z.enum([
    'gen_ai.system.message',
    'gen_ai.user.message',
    'gen_ai.choice',
    'gen_ai.client.inference.operation.details',
  ]),
});
const Id = z.union([z.string(), z.number()]);

export const Span = z.looseObject({
  name: z.string(),
  start_time: z.number(),
  end_time: z.number(),
  span_id: Id,
  trace_id: Id,
  parent_span_id: Id.nullish(),
  attributes: Attributes.optional(),
  logs: z.array(Log).optional(),
});
export type Span = z.infer<typeof Span>;

/** The spans of a session's trace answer. Throws what the UI would refuse it for. */
export const readSpans = (answer: { status: number; json: unknown }): Span[] => {
  if (answer.status !== 200) throw new Error(`Status ${answer.status}`);
  return z.array(Span).parse(answer.json);
};
