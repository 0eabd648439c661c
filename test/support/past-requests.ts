import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { cutLog } from './cut-log.ts';
import { createRequestSource } from './random-requests.ts';
import { createDataDirectory } from './server.ts';

/** Status and body of an answer. */
export type PlainAnswer = { readonly status: number; readonly body: string };

/** Requests for words, facets, highlights, pages by cursor and files, which the corpus has few of. */
const OTHERS = [
  '/api/restaurants?search=pizza&highlight=*',
  '/api/restaurants?search=bistro al&status=draft',
  '/api/restaurants?facets=kind,open&pagination[pageSize]=1',
  '/api/restaurants?distinct[kind][limit]=2&sort=name',
  '/api/articles?search=the&highlight=*&locale=*',
  '/api/articles?locale=it&populate=*',
  '/api/restaurants?pagination[cursor]=&pagination[pageSize]=3&sort=name',
  '/api/restaurants?filters[chef][restaurants][menu][dishes][name][$contains]=a&populate[chef][populate]=*',
  '/api/restaurants?filters[address][country][name][$notNull]=true&populate[hours]=true&populate[sections]=true',
  '/api/restaurants?publicationFilter=modified&status=draft',
  '/api/upload/files?sort=id',
  '/api/i18n/locales',
];

/** Returns random reads, the same for a seed, and some of each kind. */
export function readsFor(seed: number, count: number): readonly string[] {
  const source = createRequestSource(seed);
  const reads = Array.from({ length: count }, () => source.next());
  // The user of a caller is not content of the past.
  return [...reads.filter((path) => !path.startsWith('/api/users/me')), ...OTHERS];
}

/** Returns the path with the parameter `asOf`. */
export function asOf(path: string, moment: bigint | string): string {
  return `${path}${path.includes('?') ? '&' : '?'}asOf=${encodeURIComponent(String(moment))}`;
}

/** Reads a path. Repeats the request while the past is opened. */
export async function readWhole(
  base: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PlainAnswer> {
  for (;;) {
    const answer = await fetch(base + path, { headers });
    const body = await answer.text();
    if (answer.status !== 503 || !body.includes('past-opening')) return { status: answer.status, body };
    await delay(100);
  }
}

/** Copies a data directory whose server has stopped, with the events up to a position only. It is removed at the end of the test. */
export function cutData(data: string, position: bigint): string {
  const cut = createDataDirectory();
  onTestFinished(() => rmSync(cut, { recursive: true, force: true }));
  cutLog(data, position, cut);
  return cut;
}
