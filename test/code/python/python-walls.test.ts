import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pythonSandbox } from '../../../src/code/python/python-sandbox.ts';
import { runIn } from '../sandbox-context.ts';

const fresh = (name: string): string => `import _imp, importlib.machinery
spec = importlib.machinery.BuiltinImporter.find_spec('${name}')
module = _imp.create_builtin(spec)
_imp.exec_builtin(module)
`;

it('has a second wall behind the modules it took out', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'walls-'));
  const mark = join(folder, 'mark');

  const { stdout, stderr } = await runIn(pythonSandbox(), `${fresh('posix')}print(module.system('touch ${mark}'))`);
  const reached = existsSync(mark);
  rmSync(folder, { recursive: true });

  expect(reached).toBe(false);
  expect(stdout).toBe('');
  expect(stderr).not.toBe('');
});
