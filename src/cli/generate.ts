import { readFileSync, writeFileSync } from 'node:fs';
import { agentJsonSchema } from '../loaders/yaml/json-schema.ts';
import { configTable } from './help.ts';

// `npm run generate`: writes the files in the repository that are derived from the sources.

const table = new URL('../../docs/configuration.md', import.meta.url);
const text = readFileSync(table, 'utf8');
writeFileSync(
  table,
  text.replace(/^\| Flag \|[\s\S]*?(?=\n\n)/m, () => configTable()),
);

const schema = new URL('../../schema/agent.schema.json', import.meta.url);
writeFileSync(schema, `${JSON.stringify(agentJsonSchema(), null, 2)}\n`);
