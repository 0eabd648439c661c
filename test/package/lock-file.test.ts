import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Locked = {
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly inBundle?: boolean;
  readonly link?: boolean;
};

it('the lock file has a checksum for every package that a user installs, on every platform', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  // The checksum of a package covers the packages that it bundles. A link names a folder of the checkout.
  const installed = Object.entries(packages).filter(
    ([path, { dev, inBundle, link }]) => path !== '' && dev !== true && inBundle !== true && link !== true,
  );
  expect(installed.length).toBeGreaterThan(100);
  const without = installed.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(without.map(([path]) => path)).toEqual([]);
});

/** An installation script could download any program. One of them once downloaded the Node on which everything ran. */
it('no package runs a script when it is installed', () => {
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  expect(Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed)).toEqual([]);
});

/** npm omits optional dependencies that do not support the Node version on which npm runs. A checkout needs all of them. */
it('a checkout has every optional dependency, for any Node that npm runs on', () => {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const { optionalDependencies } = read('package.json');
  expect(read('infra/checkout/package.json').dependencies).toEqual(optionalDependencies);
  const { packages } = read('package-lock.json');
  const skippable = Object.keys(optionalDependencies).filter(
    (name) => packages[`node_modules/${name}`].optional,
  );
  expect(skippable).toEqual([]);
});
