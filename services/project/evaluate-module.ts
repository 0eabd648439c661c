import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createEnvHelper } from './env-helper.ts';

/**
 * Program that writes the export of a project's module as JSON. If the export is a function, it is called with Strapi's
 * `env`. The program runs with the rights that evaluate-project.ts grants, and gets the project's variables as JSON on standard input.
 */
const [file = ''] = process.argv.slice(2);
Object.assign(process.env, JSON.parse(readFileSync(0, 'utf8')));
// Node's permissions do not cover signals. With one, the module could end the server.
for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd'])
  Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false });
const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
const exported = 'default' in module ? module.default : module;
const value: unknown =
  typeof exported === 'function' ? exported({ env: createEnvHelper(process.env) }) : exported;
process.stdout.write(JSON.stringify((await value) ?? null));
