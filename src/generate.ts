import { readFileSync, writeFileSync } from 'node:fs';
import { configTable } from './help.ts';

// Writes what is derived from the sources and kept in the repository: `npm run generate`.

const place = new URL('../docs/configuration.md', import.meta.url);
const text = readFileSync(place, 'utf8');
writeFileSync(
  place,
  text.replace(/^\| Flag \|[\s\S]*?(?=\n\n)/m, () => configTable()),
);
