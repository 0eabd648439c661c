import { globSync } from 'node:fs';
import path from 'node:path';
import { readCode } from './code-text.ts';
import { CODE, findOwnRoutes, type OwnRoute } from './own-routes.ts';
import { type PopulatingMiddleware, populatingMiddlewares } from './populating-middlewares.ts';

/** Code of a Strapi project that Varve does not run, by kind. Files are relative to `src`. */
export type OwnCode = {
  readonly kind: string;
  readonly files: readonly string[];
  /** Advice for the project's developers. */
  readonly advice: string;
};

export type FoundCode = {
  readonly kinds: readonly OwnCode[];
  readonly routes: readonly OwnRoute[];
  readonly populates: readonly PopulatingMiddleware[];
};

export const NO_CODE: FoundCode = Object.freeze({ kinds: [], routes: [], populates: [] });

const MAX_FILES = 2_000;

/** Advice about each kind. */
const ADVICE = {
  routes: 'their paths answer 404 with this reason: let the front end or a service of your own answer them',
  controllers: 'the standard answers are served: move the changes to the front end, or into a proxy',
  services: 'the standard answers are served: move the changes to the front end, or into a proxy',
  lifecycles: 'nothing runs before or after a write: use webhooks, or the change feed at /api/_changes',
  middlewares:
    'answers are populated as requests say: set pluginOptions.varve.defaultPopulate in schema.json',
} as const;

/**
 * Finds the project's own code below `source`, its `src`. Reads the code as text and runs nothing. `isServed` returns whether Varve answers
 * a route itself.
 */
export function findOwnCode(source: string, isServed: (route: OwnRoute) => boolean): FoundCode {
  const read = (...patterns: readonly string[]) =>
    globSync(patterns, { cwd: source, exclude: isForeign })
      .sort()
      .slice(0, MAX_FILES)
      .map((file) => ({ file, code: readCode(path.join(source, file)) }));
  const routes = findOwnRoutes(source, read).filter((route) => !isServed(route));
  const filesOf = (patterns: readonly string[], changes: (code: string) => boolean) =>
    read(...patterns).flatMap(({ file, code }) => (changes(code) ? [file] : []));
  const overridden = (part: string, factory: string) => [
    ...filesOf([`api/*/${part}/**/${CODE}`], changesCore(factory)),
    ...filesOf([EXTENSIONS], (code) => new RegExp(`\\bplugin\\??\\.${part}\\b`).test(code)),
  ];
  const middlewares = read(`api/*/middlewares/${CODE}`, `middlewares/${CODE}`);
  const populating = middlewares.filter(({ code }) => /\bpopulate\b/.test(code));
  const kind = (name: string, files: readonly string[], advice: string): readonly OwnCode[] =>
    files.length === 0 ? [] : [{ kind: name, files: [...new Set(files)], advice }];
  return {
    kinds: [
      ...kind(
        'custom routes',
        routes.map(({ file }) => file),
        ADVICE.routes,
      ),
      ...kind(
        'overridden controllers',
        overridden('controllers', 'createCoreController'),
        ADVICE.controllers,
      ),
      ...kind('overridden services', overridden('services', 'createCoreService'), ADVICE.services),
      ...kind('lifecycles', filesOf(LIFECYCLES, hasLifecycles), ADVICE.lifecycles),
      ...kind(
        'populate in middlewares',
        populating.map(({ file }) => file),
        ADVICE.middlewares,
      ),
    ],
    routes,
    populates: populatingMiddlewares(populating, read(`api/*/routes/**/${CODE}`)),
  };
}

const EXTENSIONS = `extensions/*/strapi-server.{ts,js,mjs,cjs}`;
const LIFECYCLES = [
  `{api,extensions}/*/content-types/*/lifecycles.{ts,js,mjs,cjs}`,
  `plugins/*/{server/src/,server/,}content-types/*/lifecycles.{ts,js,mjs,cjs}`,
  `plugins/*/{server/src/,server/}{index,register,bootstrap}.{ts,js,mjs,cjs}`,
  `index.{ts,js,mjs,cjs}`,
  EXTENSIONS,
];

/** Returns whether a folder has no source code of the server: installed or built code, or a part of the admin panel. */
function isForeign(name: string): boolean {
  return /(^|[\\/])(node_modules|dist|admin)$/.test(name);
}

function hasLifecycles(code: string): boolean {
  return (
    /\b(before|after)(Create|Update|Delete|Find|Count)\w*\b/.test(code) ||
    /\blifecycles\.subscribe\(|\bdocuments\.use\(/.test(code)
  );
}

/** Returns whether a file changes what a factory of Strapi makes, or has functions of its own. */
function changesCore(factory: string): (code: string) => boolean {
  const unchanged = new RegExp(
    `\\b${factory}\\s*(<[^>]*>)?\\(\\s*['"\`][^'"\`]*['"\`](\\s+as\\s+\\w+)?\\s*,?\\s*\\)`,
  );
  return (code) => !unchanged.test(code) && /\basync\b|=>|\bfunction\b/.test(code);
}
