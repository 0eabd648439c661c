import { pathToFileURL } from 'node:url';
import { createEnvHelper } from './env-helper.ts';

/**
 * Program that writes the export of a project's module as JSON. If the export is a function, it is called with Strapi's
 * `env`. The program runs with the rights and the environment that evaluate-project.ts grants.
 */
const [file = ''] = process.argv.slice(2);
const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
const exported = 'default' in module ? module.default : module;
const value: unknown =
  typeof exported === 'function' ? exported({ env: createEnvHelper(process.env) }) : exported;
process.stdout.write(JSON.stringify((await value) ?? null));
