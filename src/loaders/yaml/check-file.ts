import { isJsonObject } from '../../base/json.ts';
import { agentClassOf, agentConfigs } from '../../schemas/agent-config.ts';
import { spelledLike } from '../../schemas/spelled.ts';
import { check } from './check.ts';
import { readYaml, type YamlFile } from './document.ts';

/** Parts of a file that start programs: whoever may write YAML must not get to write these. */
const startsPrograms = new Set(['stdioconnectionparams', 'stdioserverparams']);

/**
 * Checks the text of one YAML file that came from outside, without building or importing anything. A file of the name
 * `plugins.yaml` need only be a mapping. Throws ConfigurationException with the place of the fault.
 */
export function checkAgentYaml(text: string, name: string): void {
  const yaml = readYaml(text, name);
  const { value } = yaml;
  if (!isJsonObject(value)) throw yaml.fail([], 'must be a mapping of keys to values');
  refusePrograms(value, [], yaml);
  if (/(?:^|\/)plugins\.ya?ml$/.test(name)) return;
  const key = spelledLike(value, 'agentClass') ?? '';
  const { [key]: written = 'LlmAgent', ...rest } = value;
  if (typeof written !== 'string') throw yaml.fail(['agentClass'], '"agent_class" must be a text');
  const kind = written.trim() === '' ? 'LlmAgent' : agentClassOf(written.trim());
  if (kind === undefined) throw yaml.fail(['agentClass'], `unknown agent_class "${written}"`);
  // What is unknown is warned of when the file is used.
  check(agentConfigs[kind], { ...rest, agentClass: kind }, yaml, { warn: () => {} });
}

function refusePrograms(value: unknown, path: readonly PropertyKey[], yaml: YamlFile): void {
  if (Array.isArray(value)) value.forEach((item, index) => refusePrograms(item, [...path, index], yaml));
  if (!isJsonObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const here = [...path, key];
    if (startsPrograms.has(key.replaceAll('_', '').toLowerCase())) {
      throw yaml.fail(here, `"${key}" starts a program, which cannot be set from here`);
    }
    refusePrograms(item, here, yaml);
  }
}
