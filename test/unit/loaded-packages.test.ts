import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Prints the names of the packages that a module loads. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const names = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name !== undefined) names.add(name);
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  console.log([...names].join(' '));
`;

it("loads neither metrics nor an HTTP server for operators' commands", async () => {
  const operations = import.meta.resolve('../../services/operator/operations.ts');
  const script = ['--input-type=module', '--eval', SCRIPT, operations];
  const { stdout } = await promisify(execFile)(process.execPath, script);
  const names = stdout.trim().split(' ');
  expect(names).toContain('zod');
  for (const name of ['prom-client', '@opentelemetry/api', 'fastify']) expect(names).not.toContain(name);
});
