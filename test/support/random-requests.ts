import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Random `GET` requests: those of the corpus, and variations of them. The same seed gives the same requests. */
export type RequestSource = { next(): string };

const FILES = ['cases-visible.jsonl', 'random-visible.jsonl'];
const SORTS = ['id:desc', 'createdAt', 'updatedAt:desc', 'documentId', 'key:desc', 'name,key:desc'];
const PAGES = ['page', 'start'];

type Case = { readonly request?: { readonly method?: string; readonly path?: string } };

/** Creates a source of requests. */
export function createRequestSource(seed: number): RequestSource {
  corpus ??= readCorpus();
  const { paths, populates } = corpus;
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  return {
    next() {
      const path = pick(paths) ?? '/api/restaurants';
      const [base = '', query = ''] = path.split('?');
      const parts = query === '' ? [] : query.split('&');
      const has = (name: string) => parts.some((part) => part.startsWith(name));
      if (!has('populate') && random(3) > 0) parts.push(pick(populates.get(base) ?? []) ?? 'populate=*');
      if (!has('sort') && random(2) === 0) parts.push(`sort=${pick(SORTS)}`);
      if (!has('status') && random(3) === 0) parts.push('status=draft');
      if (!has('pagination')) {
        const name = pick(PAGES);
        const size = name === 'page' ? 'pageSize' : 'limit';
        parts.push(`pagination[${name}]=${random(4)}&pagination[${size}]=${1 + random(30)}`);
      }
      return `${base}?${parts.join('&')}`;
    },
  };
}

let corpus: ReturnType<typeof readCorpus> | undefined;

function readCorpus() {
  const paths = corpusPaths();
  return { paths, populates: populatesOf(paths) };
}

function corpusPaths(): readonly string[] {
  const paths = new Set<string>();
  for (const name of FILES) {
    const file = fileURLToPath(new URL(`../conformance/${name}`, import.meta.url));
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const { request } = (line === '' ? {} : JSON.parse(line)) as Case;
      // Paths with placeholders need ids that only a run of the corpus knows.
      if (
        request?.method === 'GET' &&
        request.path?.startsWith('/api/') &&
        !/[{}$]\{|\{\{/.test(request.path)
      ) {
        paths.add(request.path);
      }
    }
  }
  return [...paths];
}

/** Returns the `populate` paths of the corpus, by collection. */
function populatesOf(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const path of paths) {
    const [base = '', query = ''] = path.split('?');
    const populate = query.split('&').filter((part) => part.startsWith('populate'));
    if (populate.length > 0) found.set(base, [...(found.get(base) ?? []), populate.join('&')]);
  }
  return found;
}

/** Returns a generator of integers below a bound. */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
