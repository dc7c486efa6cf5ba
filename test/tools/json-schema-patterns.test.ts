import { expect, it } from 'vitest';
import { valueSchema } from '../../src/tools/value-schema.ts';

const schema = valueSchema({ type: 'object', properties: { name: { type: 'string', pattern: '^(a+)+$' } } });

it('checks patterns of a schema', async () => {
  expect(await schema.check({ name: 'aaa' })).toMatchObject({ ok: true });
  expect(await schema.check({ name: 'b' })).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('pattern')],
  });
});

it('says so when a value was made to stall a pattern of a schema', async () => {
  expect(await schema.check({ name: `${'a'.repeat(50)}!` })).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('took longer')],
  });
});
