import { globSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentJsonSchema } from '../../src/loaders/yaml/json-schema.ts';

const published = JSON.parse(readFileSync('schema/agent.schema.json', 'utf8')) as object;
const validate = new Ajv({ strict: false }).compile(published);
const faults = (yaml: string): string[] => {
  validate(parse(yaml));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

it('is published as it is (npm run generate)', () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(agentJsonSchema())));
});

it.each(globSync('agents/**/*.yaml'))('fits %s, which names it', (file) => {
  const text = readFileSync(file, 'utf8');

  expect(text).toMatch(/^# yaml-language-server: \$schema=(?:\.\.\/)+schema\/agent\.schema\.json\n/);
  expect(faults(text)).toEqual([]);
});

it('takes both spellings, references as texts, and every kind', () => {
  expect(
    faults(`
name: a
instruction: x
outputKey: y
sub_agents: [b.yaml, { config_path: c.yaml }, { code: x.y }]
tools: [exit_loop, { name: AgentTool, args: { agent: x.yaml } }]
before_model_callbacks: [{ name: x }]
generate_content_config: { top_p: 1, labels: { any_key: x }, some_new_key: 1 }
`),
  ).toEqual([]);
  expect(faults('agent_class: LoopAgent\nname: a\nmax_iterations: 2\n')).toEqual([]);
});

it.each([
  ['name: a\n', "must have required property 'instruction'"],
  ['name: a\ninstruction: x\ninstructions: y\n', 'must NOT have additional properties'],
  ['agent_class: SequentialAgent\nname: a\nmodel: x\n', 'must NOT have additional properties'],
  ['agent_class: Nothing\nname: a\n', 'must be equal to one of the allowed values'],
  ['name: a\ninstruction: x\ndescription: 5\n', '/description must be string'],
])('finds the fault in %j', (yaml, fault) => {
  expect(faults(yaml).join('\n')).toContain(fault);
});
