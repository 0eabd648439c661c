import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importDataSet } from '../bench/bench-data.ts';
import { createApiClient } from '../support/api-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { findWords } from '../support/find-words.ts';
import { createRandom } from '../support/naive-random.ts';
import { runVarve } from '../support/run-varve.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * Erases many documents of a log together, by a ledger. By hand with a large one: `VARVE_ERASED_RESTAURANTS=15000` makes as many restaurants and
 * three times as many reviews, and `VARVE_ERASED_DOCUMENTS=200` says how many of them are erased. Prints how long each step takes.
 */
const RESTAURANTS = Number(process.env['VARVE_ERASED_RESTAURANTS'] ?? 60);
const ERASED = Number(process.env['VARVE_ERASED_DOCUMENTS'] ?? 20);
const SEED = Number(process.env['SEED'] ?? 43);
const WORDS = Array.from({ length: 20 }, (_, n) => `Lammerfold${n}x`);
const TYPES = ['restaurant', 'review'] as const;
const PAGE_SIZE = 100;
/** Lists, and true for those that are read with relations. A tag has too many restaurants for an answer. */
const LISTS = { restaurants: true, reviews: true, chefs: true, tags: false, countries: false };
const STEPS = `erasing ${ERASED} of ${RESTAURANTS * 4} documents (SEED=${SEED})`;
/** A rebuild replaces the serving process, which may close an idle connection while the next request is sent. */
const CLOSE = { connection: 'close' };

type Row = { readonly documentId: string; readonly id: number };

it(`no other answer changes: ${STEPS}`, {
  ...takesMinutes('an erasure in a large log'),
  timeout: 1_800_000,
}, async () => {
  const data = dataForTest();
  const size = { restaurants: String(RESTAURANTS), reviews: String(3 * RESTAURANTS) };
  const { documents } = importDataSet(data, join(data, 'scratch'), size);
  const server = await startForTest({ data });
  const client = createApiClient(server.url);
  const random = createRandom(SEED);
  const readAll = () => timed('all answers', () => readLists(server.url));
  const rows = await readAll();
  const named = TYPES.flatMap((name) =>
    (rows.get(`${name}s draft`) ?? []).map(({ documentId }) => ({
      type: `api::${name}.${name}`,
      documentId,
    })),
  );
  const chosen = random.sample(named, 2 * ERASED).slice(0, ERASED);
  const erased = new Set(chosen.map(({ documentId }) => documentId));
  for (const [n, word] of WORDS.entries()) await writeWord(client, chosen[n % ERASED] ?? fail(), word);
  expect((await findWords(data, WORDS)).length).toBeGreaterThan(0);
  const before = othersIn(await readAll(), erased);

  const at = new Date().toISOString();
  const ledger = chosen.map((document, n) => ({ ...document, id: `given${n}`, reason: null, at }));
  const answer = await timed('the erasure', () =>
    client.data('POST', '/_varve/erasures', { data: { ledger, confirm: ERASED } }),
  );
  expect(answer).toMatchObject({ erased: true, count: ERASED });
  expect(await findWords(data, WORDS)).toEqual([]);
  expect(othersIn(await readAll(), erased)).toEqual(before);
  const run = (...args: readonly string[]) =>
    timed(args.join(' '), () => runVarve([...args, '--data', data]));
  const rebuilt = await run('rebuild', '--graph');
  expect(rebuilt, rebuilt.stdout + rebuilt.stderr).toMatchObject({ code: 0 });
  expect(othersIn(await readAll(), erased)).toEqual(before);
  expect(await findWords(data, WORDS)).toEqual([]);
  const verified = await run('verify');
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  const compared = [...before.values()].reduce((sum, list) => sum + list.length, 0);
  console.log(`${documents} lines imported, ${compared} rows compared`);
});

function fail(): never {
  throw new Error('nothing was chosen');
}

/** Writes a word to a document, and then another value over it. */
async function writeWord(
  client: ReturnType<typeof createApiClient>,
  { type, documentId }: { readonly type: string; readonly documentId: string },
  word: string,
): Promise<void> {
  const [path, attribute] = type.includes('review') ? ['reviews', 'title'] : ['restaurants', 'name'];
  for (const value of [word, `plain ${documentId}`])
    await client.data('PUT', `/api/${path}/${documentId}`, { data: { [attribute]: value } });
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  return result;
}

/** Returns all rows of the lists, with their relations, by list and world. */
async function readLists(url: string): Promise<ReadonlyMap<string, readonly Row[]>> {
  const lists = new Map<string, readonly Row[]>();
  for (const [list, isPopulated] of Object.entries(LISTS))
    for (const status of ['draft', 'published']) {
      const rows: Row[] = [];
      for (let page = PAGE_SIZE, last = 0; page === PAGE_SIZE; last = rows.at(-1)?.id ?? 0) {
        const query = `${isPopulated ? 'populate=*&' : ''}sort=id&status=${status}&filters[id][$gt]=${last}&pagination[pageSize]=${PAGE_SIZE}`;
        const answer = await fetch(`${url}/api/${list}?${query}`, { headers: CLOSE });
        const text = await answer.text();
        expect(answer.status, `${list}: ${text.slice(0, 500)}`).toBe(200);
        const { data } = JSON.parse(text) as { readonly data: readonly Row[] };
        rows.push(...data);
        page = data.length;
      }
      lists.set(`${list} ${status}`, rows);
    }
  return lists;
}

/** Returns the rows of the other documents, without their links to those that are erased. */
function othersIn(lists: ReadonlyMap<string, readonly Row[]>, erased: ReadonlySet<string>) {
  const isErased = (value: unknown) => erased.has((value as Partial<Row> | null)?.documentId ?? '');
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((each) => !isErased(each)).map(without);
    if (typeof value !== 'object' || value === null) return value;
    if (isErased(value)) return null;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(each)]));
  };
  return new Map([...lists].map(([name, rows]) => [name, without(rows) as readonly unknown[]]));
}
