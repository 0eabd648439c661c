import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '../../shared/json-record.ts';
import { literalMember, objectTexts, ownMembers } from './code-text.ts';

/** A path that the project's own code answers, below the API's prefix, such as `GET /articles/search`. Files are relative to `src`. */
export type OwnRoute = { readonly method: string; readonly path: string; readonly file: string };

export type CodeFile = { readonly file: string; readonly code: string };

/** Reads the files that match a pattern. */
export type ReadCode = (...patterns: readonly string[]) => readonly CodeFile[];

/** Pattern for files of code. */
export const CODE = '*.{ts,js,mjs,cjs}';

type FoundRoute = {
  readonly method: string;
  readonly path: string;
  /** Prefix that replaces that of its plugin. */
  readonly prefix: string | undefined;
  readonly hasHandler: boolean;
  /** The route, as text. */
  readonly text: string;
};

/** Returns the routes of a project's apis, of its own plugins, and of its extensions of other plugins. `source` is its `src`. */
export function findOwnRoutes(source: string, read: ReadCode): readonly OwnRoute[] {
  const ofApis = read(`api/*/routes/**/${CODE}`).flatMap(({ file, code }) =>
    routesIn(code).map(({ method, path: own, prefix = '' }) => ({ method, path: `${prefix}${own}`, file })),
  );
  const ofIndex = read(`index.{ts,js,mjs,cjs}`).flatMap(({ file, code }) =>
    routesIn(code).flatMap(({ method, path: own, hasHandler }) =>
      hasHandler && own.startsWith('/api/') ? [{ method, path: own.slice('/api'.length), file }] : [],
    ),
  );
  const ofExtensions = read(`extensions/*/**/${CODE}`).flatMap((each) => extensionRoutes(each));
  const files = read(`plugins/*/server/**/${CODE}`, `plugins/*/strapi-server.{ts,js,mjs,cjs}`);
  const ofPlugins = [...Map.groupBy(files, ({ file }) => folderOf(file))].flatMap(([folder, own]) =>
    pluginRoutes(pluginName(source, folder), own),
  );
  return [...ofApis, ...ofIndex, ...ofPlugins, ...ofExtensions];
}

/** Returns the routes that an extension adds to those of a plugin. Routes of the admin panel are not below the API's prefix. */
function extensionRoutes({ file, code }: CodeFile): readonly OwnRoute[] {
  return routesIn(code).flatMap((route) => {
    const before = code.slice(0, code.indexOf(route.text));
    const [, group] =
      [...before.matchAll(/\broutes(?:\?\.)?(?:\.|\[\s*['"`])(content-api|admin)\b/g)].at(-1) ?? [];
    return route.hasHandler && group !== 'admin' ? [below(`/${folderOf(file)}`, route, file)] : [];
  });
}

function pluginRoutes(name: string, files: readonly CodeFile[]): readonly OwnRoute[] {
  const groups = files.flatMap(({ code }) => objectTexts(code).flatMap((text) => groupOf(text) ?? []));
  const isOnlyApi = groups.length > 0 && groups.every(({ type }) => type === 'content-api');
  return files.flatMap(({ file, code }) => {
    const own = objectTexts(code).flatMap((text) => groupOf(text) ?? []);
    return routesIn(code).flatMap((route) => {
      // Objects end in this order, so the first group around a route is the innermost one.
      const group = own.find(({ text }) => text.includes(route.text));
      const isOfApi =
        group === undefined ? isOnlyApi || /content-?api/i.test(file) : group.type === 'content-api';
      return route.hasHandler && isOfApi ? [below(group?.prefix ?? `/${name}`, route, file)] : [];
    });
  });
}

/** Returns a plugin's list of routes of one type, if `text` is one. */
function groupOf(text: string) {
  const own = ownMembers(text);
  const type = literalMember(own, 'type');
  if (type !== 'content-api' && type !== 'admin') return undefined;
  return { type, prefix: literalMember(own, 'prefix'), text };
}

function below(prefix: string, route: FoundRoute, file: string): OwnRoute {
  const whole = `${route.prefix ?? prefix}${route.path}`.replace(/\/$/, '');
  return { method: route.method, path: whole, file };
}

/** Returns the name under which Strapi serves a plugin's routes: that of its package, or of its folder. */
function pluginName(source: string, folder: string): string {
  const file = path.join(source, 'plugins', folder, 'package.json');
  if (!existsSync(file)) return folder;
  try {
    const { strapi } = JSON.parse(readFileSync(file, 'utf8')) as { readonly strapi?: unknown };
    return isRecord(strapi) && typeof strapi['name'] === 'string' ? strapi['name'] : folder;
  } catch {
    return folder;
  }
}

/** Returns the second folder of a path, which names a plugin. */
function folderOf(file: string): string {
  return file.split(path.sep)[1] ?? '';
}

function routesIn(code: string): readonly FoundRoute[] {
  return objectTexts(code).flatMap((text) => {
    const own = ownMembers(text);
    const [method, route] = [literalMember(own, 'method'), literalMember(own, 'path')];
    if (method === undefined || route === undefined) return [];
    const hasHandler = /\bhandler\b/.test(own);
    return [
      { method: method.toUpperCase(), path: route, prefix: literalMember(text, 'prefix'), hasHandler, text },
    ];
  });
}
