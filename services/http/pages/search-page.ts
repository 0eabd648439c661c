import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { PAGE_HEADERS } from './page-headers.ts';

/** Path and type of a file. Files have the names below `/search/`; the name of the page itself is empty. */
type PageFile = { readonly path: string; readonly type: string };
export type SearchPage = ReadonlyMap<string, PageFile>;

const OWN: readonly (readonly [name: string, file: string, type: string])[] = [
  ['', 'index.html', 'text/html'],
  ['search.js', 'search.js', 'text/javascript'],
  ['search.css', 'search.css', 'text/css'],
];

/**
 * Returns the files of the example's search page, with InstantSearch from the `node_modules` of its folder. Returns undefined if the folder
 * has no page, or InstantSearch is not installed.
 */
export function findSearchPage(folder: string): SearchPage | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined;
  const { resolve } = createRequire(join(folder, 'index.html'));
  const folderOf = (file: string): string | undefined => {
    try {
      return dirname(resolve(file));
    } catch {
      return undefined;
    }
  };
  const [client, widgets] = [folderOf('algoliasearch/lite'), folderOf('instantsearch.js/package.json')];
  if (client === undefined || widgets === undefined) return undefined;
  const script = 'text/javascript';
  return new Map([
    ...OWN.map(([name, file, type]): [string, PageFile] => [name, { path: join(folder, file), type }]),
    ['algoliasearch.js', { path: join(client, 'browser.umd.js'), type: script }],
    ['instantsearch.js', { path: join(widgets, 'dist/instantsearch.production.min.js'), type: script }],
  ]);
}

/** Registers `/search`. Outside development mode the path does not exist. */
export function registerSearchPage(app: FastifyInstance, page: SearchPage, access: AccessControl): void {
  const file = async (name: string): Promise<{ readonly body: Buffer; readonly type: string }> => {
    const found = access.state().development ? page.get(name) : undefined;
    if (found === undefined) throw new RequestError('not-found', 'Not Found');
    return { body: await readFile(found.path), type: found.type };
  };
  for (const url of ['/search', '/search/:file'])
    app.get(url, async (request, reply) => {
      const { file: name = '' } = request.params as { readonly file?: string };
      const { body, type } = await file(name);
      return reply.headers(PAGE_HEADERS).type(`${type}; charset=utf-8`).send(body);
    });
}
