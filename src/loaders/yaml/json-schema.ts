import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { agentConfigs, orTextMark } from '../../schemas/agent-config.ts';
import { snakeCase } from '../../schemas/key-case.ts';

/**
 * The format of agent files as JSON Schema, for editors: keys in snake_case; camelCase keys are accepted but not
 * suggested.
 */
export function agentJsonSchema(): JsonObject {
  const definitions: JsonObject = {};
  for (const [name, schema] of Object.entries(agentConfigs)) {
    const { $schema: _, definitions: parts, ...json } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
    definitions[name] = inBothCases(json);
    for (const [part, value] of Object.entries(parts ?? {})) definitions[part] = inBothCases(value);
  }
  const kinds = Object.keys(agentConfigs);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Agent',
    description: 'An agent of agent-server, as in root_agent.yaml',
    type: 'object',
    properties: { agent_class: { description: 'The kind of agent. Absent: LlmAgent', enum: kinds } },
    allOf: [
      ...kinds.map((kind) =>
        implies({ required: ['agent_class'], properties: { agent_class: { const: kind } } }, definition(kind)),
      ),
      implies(
        { not: { anyOf: [{ required: ['agent_class'] }, { required: ['agentClass'] }] } },
        definition('LlmAgent'),
      ),
    ],
    definitions,
  };
}

const definition = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });

// oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
const implies = (condition: JsonObject, schema: JsonObject): JsonObject => ({ if: condition, then: schema });

function inBothCases(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inBothCases);
  if (!isJsonObject(node)) return node;
  const { [orTextMark]: isOrText, properties, required, ...rest } = node;
  const copy: JsonObject = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inBothCases(value)]));
  if (isJsonObject(properties)) copy['properties'] = propertiesInBothCases(properties);
  // A key with two spellings cannot be required by name.
  const needed = Array.isArray(required) ? required.filter((key) => snakeCase(String(key)) === key) : [];
  if (needed.length > 0) copy['required'] = needed;
  return isOrText === true ? { anyOf: [{ type: 'string' }, copy] } : copy;
}

function propertiesInBothCases(properties: JsonObject): JsonObject {
  const both: JsonObject = {};
  for (const [key, value] of Object.entries(properties)) {
    const snake = snakeCase(key);
    both[snake] = inBothCases(value);
    // The other spelling is accepted unchecked, which keeps the schema small; the server checks it.
    if (snake !== key) both[key] = { doNotSuggest: true };
  }
  return both;
}
