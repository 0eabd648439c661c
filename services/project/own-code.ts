import { globSync } from 'node:fs';
import path from 'node:path';
import { literalMember, objectTexts, ownMembers, readCode } from './code-text.ts';
import { type PopulatingMiddleware, populatingMiddlewares } from './populating-middlewares.ts';

/** Code of a Strapi project that Varve does not run, by kind. Files are relative to `src`. */
export type OwnCode = {
  readonly kind: string;
  readonly files: readonly string[];
  /** Advice for the project's developers. */
  readonly advice: string;
};

/** A path that the project's own code answers, below the API's prefix, such as `/articles/search`. */
export type OwnRoute = { readonly path: string; readonly file: string };

export type FoundCode = {
  readonly kinds: readonly OwnCode[];
  readonly routes: readonly OwnRoute[];
  readonly populates: readonly PopulatingMiddleware[];
};

export const NO_CODE: FoundCode = Object.freeze({ kinds: [], routes: [], populates: [] });

const CODE = '*.{ts,js,mjs,cjs}';
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
 * a path itself.
 */
export function findOwnCode(source: string, isServed: (path: string) => boolean): FoundCode {
  const read = (...patterns: readonly string[]) =>
    globSync(patterns, { cwd: source })
      .sort()
      .slice(0, MAX_FILES)
      .map((file) => ({ file, code: readCode(path.join(source, file)) }));
  const routes = read(`api/*/routes/**/${CODE}`).flatMap(({ file, code }) =>
    routesIn(code).flatMap((each) => (isServed(each) ? [] : [{ path: each, file }])),
  );
  const filesOf = (patterns: readonly string[], changes: (code: string) => boolean) =>
    read(...patterns).flatMap(({ file, code }) => (changes(code) ? [file] : []));
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
        filesOf([`api/*/controllers/**/${CODE}`], changesCore('createCoreController')),
        ADVICE.controllers,
      ),
      ...kind(
        'overridden services',
        filesOf([`api/*/services/**/${CODE}`], changesCore('createCoreService')),
        ADVICE.services,
      ),
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

const LIFECYCLES = [
  `{api,extensions}/*/content-types/*/lifecycles.{ts,js,mjs,cjs}`,
  `index.{ts,js,mjs,cjs}`,
  `extensions/*/strapi-server.{ts,js,mjs,cjs}`,
];

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

/** Returns the paths of the routes in a file. */
function routesIn(code: string): readonly string[] {
  return objectTexts(code).flatMap((object) => {
    const own = ownMembers(object);
    const [method, route] = [literalMember(own, 'method'), literalMember(own, 'path')];
    return method === undefined || route === undefined ? [] : [route];
  });
}
