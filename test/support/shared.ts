import { inject } from 'vitest';

/** The URI of a new, empty database in the PostgreSQL that all test files share. */
export const newDatabase = (): Promise<string> => ask('PostgreSQL', 'database');

/** Where the Chromium that all test files share takes connections. */
export const sharedChromium = (): Promise<string> => ask('Chromium', 'chromium');

async function ask(program: string, path: string): Promise<string> {
  const response = await fetch(`${inject('shared')}/${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`The ${program} that the tests share did not start: ${text}`);
  return text;
}
