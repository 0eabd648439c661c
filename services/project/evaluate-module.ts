import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { confineModule } from './confine-module.ts';
import { createEnvHelper } from './env-helper.ts';
import { resolveNeighbour } from './resolve-neighbour.ts';

/**
 * Program that writes the export of a project's module as JSON. If the export is a function, it is called with Strapi's
 * `env`. The program runs with the rights that evaluate-project.ts grants, and gets the project's variables as JSON on standard input.
 */
const [file = '', root = ''] = process.argv.slice(2);
Object.assign(process.env, JSON.parse(readFileSync(0, 'utf8')));
registerHooks({ resolve: resolveNeighbour });
// Strapi compiles TypeScript to CommonJS, whose modules have these names.
Object.assign(globalThis, { __dirname: path.dirname(file), __filename: file, require: createRequire(file) });
confineModule(root);
const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
const exported = 'default' in module ? module.default : module;
const value: unknown =
  typeof exported === 'function' ? exported({ env: createEnvHelper(process.env) }) : exported;
process.stdout.write(JSON.stringify((await value) ?? null));
