import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const folderOf = (address: string): string => dirname(fileURLToPath(address));

/** Files of packages that a browser loads, by the part of the URL that names the package. */
const SCRIPTS = new Map([
  ['react', join(folderOf(import.meta.resolve('react')), 'umd/react.production.min.js')],
  ['react-dom', join(folderOf(import.meta.resolve('react-dom')), 'umd/react-dom.production.min.js')],
  [
    'react-instantsearch',
    join(folderOf(import.meta.resolve('react-instantsearch')), '../umd/ReactInstantSearch.min.js'),
  ],
  ['algoliasearch', join(folderOf(import.meta.resolve('algoliasearch/lite')), 'browser.umd.js')],
  [
    'instantsearch.js',
    join(
      folderOf(import.meta.resolve('instantsearch.js/package.json')),
      'dist/instantsearch.production.min.js',
    ),
  ],
  ['search-insights', join(folderOf(import.meta.resolve('search-insights')), 'dist/search-insights.min.js')],
]);

/** Answers a page's requests to a CDN with the packages of this checkout. */
export async function serveScripts(page: Page): Promise<void> {
  await page.route('https://cdn.jsdelivr.net/**', async (route) => {
    const url = route.request().url();
    const [, file] = [...SCRIPTS].find(([name]) => url.includes(`/npm/${name}@`)) ?? [];
    if (file === undefined) await route.abort();
    else await route.fulfill({ contentType: 'text/javascript', body: readFileSync(file, 'utf8') });
  });
}

/** Serves an HTML page on another origin. */
export async function servePage(html: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Collects the faults of a page: console errors (including violations of its CSP), exceptions and failed requests. */
export function faultsOf(page: Page): readonly string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('requestfailed', (request) => {
    // The console ends its own requests: its stream of events when its reader leaves or signs out, and a read that is not needed any more.
    const isEnded =
      request.failure()?.errorText === 'net::ERR_ABORTED' &&
      ['fetch', 'eventsource'].includes(request.resourceType());
    if (!isEnded) faults.push(`${request.url()} failed`);
  });
  return faults;
}
