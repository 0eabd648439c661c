import { pathToFileURL } from 'node:url';
import { createEnvHelper } from './env-helper.ts';

/**
 * A program: writes the export of a project's module as JSON. It calls a function with Strapi's `env`. It runs with the
 * rights and the environment that evaluate-project.ts grants.
 */
const [file = ''] = process.argv.slice(2);
const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
const exported = 'default' in module ? module.default : module;
const value: unknown =
  typeof exported === 'function' ? exported({ env: createEnvHelper(process.env) }) : exported;
process.stdout.write(JSON.stringify((await value) ?? null));
