import { expect, it } from 'vitest';
import { optionalPackage } from '../../src/services/optional-package.ts';

it('names the package to install when it is missing', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });

  const loaded = optionalPackage('@some/sdk', () => Promise.reject(missing));

  await expect(loaded).rejects.toMatchObject({
    code: 'ConfigurationException',
    message: 'The package "@some/sdk" is missing: npm install @some/sdk',
  });
});

it('hands on what a package throws while it loads', async () => {
  await expect(optionalPackage('x', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});
