import { afterEach, expect, it } from 'vitest';
import { redact, redactEnvironment } from '../../src/base/redact.ts';

afterEach(() => redactEnvironment({}));

it('replaces the values of variables that are named like credentials', () => {
  redactEnvironment({ WEATHER_TOKEN: 's3cr3t-env-value', DB_PASSWORD: 'correct horse', HOME: '/home/ada-lovelace' });

  expect(redact('token s3cr3t-env-value, then correct horse, in /home/ada-lovelace')).toBe(
    'token [redacted], then [redacted], in /home/ada-lovelace',
  );
});

it('replaces the values of passwords whose variables have no underscore, and of no ordinary variables', () => {
  redactEnvironment({ PGPASSWORD: 'correct horse', MONKEY: 'chimpanzee', PGPASSFILE: '/home/ada/.pgpass' });

  expect(redact('correct horse, chimpanzee, /home/ada/.pgpass')).toBe('[redacted], chimpanzee, /home/ada/.pgpass');
});

it('leaves words alone that hold the value of a short variable', () => {
  redactEnvironment({ API_KEY: 'x' });

  expect(redact('Expected an index')).toBe('Expected an index');
});
