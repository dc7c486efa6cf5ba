import { isIP } from 'node:net';
import { isLoopback, isPublicAddress } from '../../base/addresses.ts';
import { isJsonObject } from '../../base/json.ts';
import { agentClassOf, agentConfigs } from '../../schemas/agent-config.ts';
import { keyInAnyCase } from '../../schemas/key-case.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import { check } from './check.ts';
import { readYaml, type YamlFile } from './document.ts';

/** Keys that start programs. Clients that may upload YAML must not set them. */
const startsPrograms = new Set(['stdioconnectionparams', 'stdioserverparams']);

/**
 * Checks the text of an uploaded YAML file, without building or importing anything. `plugins.yaml` need only be a
 * mapping. `limits` restricts what the file may name, as it will when the app runs. Throws ConfigurationException with the
 * location of the fault.
 */
export function checkAgentYaml(text: string, name: string, limits: AccessLimits = {}): void {
  const yaml = readYaml(text, name);
  const { value } = yaml;
  if (!isJsonObject(value)) throw yaml.fail([], 'must be a mapping of keys to values');
  checkLimits(value, [], { yaml, limits });
  if (/(?:^|\/)plugins\.ya?ml$/.test(name)) return;
  const key = keyInAnyCase(value, 'agentClass') ?? '';
  const { [key]: written = 'LlmAgent', ...rest } = value;
  if (typeof written !== 'string') throw yaml.fail(['agentClass'], '"agent_class" must be a text');
  const kind = written.trim() === '' ? 'LlmAgent' : agentClassOf(written.trim());
  if (kind === undefined) throw yaml.fail(['agentClass'], `unknown agent_class "${written}"`);
  // Unknown keys cause warnings when the app is loaded.
  check(agentConfigs[kind], { ...rest, agentClass: kind }, yaml, { warn: () => {} });
}

interface Setting {
  readonly yaml: YamlFile;
  readonly limits: AccessLimits;
}

function checkLimits(value: unknown, path: readonly PropertyKey[], setting: Setting): void {
  const { yaml, limits } = setting;
  if (typeof value === 'string' && limits.publicOnly && namesPrivateHost(value)) {
    throw yaml.fail(path, `"${value}" is not on the public internet: --allow-config-private-hosts allows it`);
  }
  if (Array.isArray(value)) value.forEach((item, index) => checkLimits(item, [...path, index], setting));
  if (!isJsonObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const here = [...path, key];
    const name = key.replaceAll('_', '').toLowerCase();
    if (startsPrograms.has(name)) throw yaml.fail(here, `"${key}" starts a program, which an uploaded file may not`);
    if (name === 'usedefaultcredential' && item === true && (limits.machineCredential ?? 'anywhere') !== 'anywhere') {
      throw yaml.fail(here, `"${key}" uses the credential of this machine: --allow-config-credentials allows it`);
    }
    checkLimits(item, here, setting);
  }
}

/** Whether a text is a URL of this machine or its network, as far as the text shows. Host names are resolved on use. */
function namesPrivateHost(text: string): boolean {
  const url = /^\s*https?:/i.test(text) ? URL.parse(text) : null;
  if (!url) return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isLoopback(host) || (isIP(host) !== 0 && !isPublicAddress(host));
}
