import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PAST_ARGUMENT } from '../../services/supervisor/past-child.ts';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';
import { createRandom } from '../support/naive-random.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import { argumentsOf, processTree } from '../support/processes.ts';
import { CONFORMANCE_SCHEMA, type RunningServer } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * Probes for what the past must not show: values of an attribute that is private now, of a type that the caller may not find, of drafts, and
 * anything to a caller without the right `history`.
 */
const LONG = { ...takesMinutes('probes for leaks of the history and of the past'), timeout: 600_000 };
const PROBES = 1_000;
/** Words that only hidden values have. */
const HIDDEN = /zqprivate|zqchef|zqdraft/i;

/** Returns the content types with a private attribute that was not private before. */
function typesOfNow(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-past-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
  const file = join(folder, 'api/restaurant/content-types/restaurant/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  schema.attributes.email.private = true;
  writeFileSync(file, JSON.stringify(schema));
  return folder;
}

type Planted = {
  readonly id: string;
  readonly chef: string;
  readonly gone: string;
  readonly positions: string[];
};

/** Writes hidden values while the attribute is not private yet, and replaces them. */
async function plant(data: string): Promise<Planted> {
  const server = await startForTest({ data });
  const ask = createAsk(server.url);
  const positions: string[] = [];
  const send = async (method: string, path: string, values?: object) => {
    const { status, body, headers } = await ask(path, { method, ...(values && { body: { data: values } }) });
    expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    positions.push(String(headers.get('varve-position')));
    return body.data as { readonly documentId: string };
  };
  const [chef] = (await ask('/api/chefs?sort=id&pagination[pageSize]=1')).body.data;
  const pages = '/api/restaurants?sort=id&pagination[pageSize]=2';
  const [restaurant, gone] = (await ask(pages)).body.data;
  const [path, goneAt] = [restaurant, gone].map(({ documentId }) => `/api/restaurants/${documentId}`);
  await send('PUT', `/api/chefs/${chef.documentId}`, { name: 'zqchef' });
  const values = { email: 'zqprivate@example.org', chef: chef.documentId };
  await send('PUT', String(path), values);
  await send('PUT', String(goneAt), values);
  await send('PUT', `${path}?status=draft`, { name: 'zqdraft' });
  await send('PUT', String(path), { name: 'Shown', email: 'a@example.org' });
  await send('PUT', `/api/chefs/${chef.documentId}`, { name: 'Somebody' });
  await ask(String(goneAt), { method: 'DELETE' });
  await server.stop();
  return { id: restaurant.documentId, chef: chef.documentId, gone: gone.documentId, positions };
}

/** Returns the probes: each way to name something hidden, on each path of the past. */
function probesOf({ id, chef, gone, positions }: Planted): readonly string[] {
  const parameters = [
    ...['', 'populate=*', 'populate=chef', 'populate[chef][fields][0]=name', 'fields=email', 'fields=*'],
    ...[
      'filters[email][$contains]=zqprivate',
      'filters[email][$notNull]=true',
      'filters[chef][name][$eq]=zqchef',
    ],
    ...['filters[$or][0][email][$startsWith]=zq', 'filters[$not][chef][documentId]=x', 'sort=email:desc'],
    ...['sort=chef.name', 'search=zqprivate', 'search=zqchef&highlight=*', 'search=zqdraft', 'facets=email'],
    ...['facets=chef.name', '_q=zqprivate', '_q=zqchef', 'status=draft', 'status=draft&populate=*'],
    ...[
      'publicationFilter=modified',
      'locale=*&populate=*',
      'pagination[cursor]=&sort=email',
      'populate[similar][populate]=*',
    ],
    ...['filters[similar][chef][name][$containsi]=zq', 'filters[similar][email][$ne]=x', 'explain=true'],
  ];
  const types = [
    '/api/restaurants',
    `/api/restaurants/${id}`,
    `/api/restaurants/${gone}`,
    '/api/chefs',
    `/api/chefs/${chef}`,
  ];
  const reads = [
    ...types,
    '/api/users',
    '/api/upload/files',
    '/api/i18n/locales',
    '/api/_changes',
    '/api/dishes',
  ];
  const join = (path: string, query: string) => (query === '' ? path : `${path}?${query}`);
  // After the hidden values were written, and with all of them.
  const past = [positions[1], positions[3], positions[5]].flatMap((position = '') =>
    reads.flatMap((path) => parameters.map((query) => asOf(join(path, query), position))),
  );
  const histories = ['/api/restaurants/_deleted', '/api/chefs/_deleted'].concat(
    [`/api/restaurants/${id}`, `/api/restaurants/${gone}`, `/api/chefs/${chef}`].flatMap((path) => [
      `${path}/versions`,
      ...positions.flatMap((position) => [
        `${path}/versions/${position}`,
        `${path}/versions/${position}/diff?with=current`,
        `${path}/versions/${position}/diff?with=${positions[1]}&format=words`,
      ]),
    ]),
  );
  const ofHistory = histories.flatMap((path) =>
    ['', 'status=draft', 'populate=*', 'filters[email][$notNull]=true', 'sort=email'].map((query) =>
      query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
    ),
  );
  const random = createRandom(43);
  const shuffled = past.map((probe) => [random.between(0, 1e9), probe] as const).sort(([a], [b]) => a - b);
  return [...ofHistory, ...shuffled.map(([, probe]) => probe)].slice(0, PROBES);
}

/** Works on several items at a time. */
async function forEach(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  const rest = [...items];
  const run = async () => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: 12 }, run));
}

function pastsOf({ supervisor }: RunningServer): readonly number[] {
  return processTree(supervisor).filter((pid) => argumentsOf(pid).includes(PAST_ARGUMENT));
}

it(`shows nothing hidden in ${PROBES} probes`, LONG, async () => {
  const data = dataForTest();
  cpSync(await loadedCorpus(), data, { recursive: true });
  const planted = await plant(data);
  const server = await startForTest({ data, contentTypes: typesOfNow(), arguments: ['--past-worlds', '8'] });
  const full = await createTokenOver(createAsk(server.url), { name: 'full', type: 'full-access' });
  const askAll = createAsk(server.url, full);
  const allow = ['restaurant.find', 'restaurant.findOne', 'dish.find', 'file.find'];
  const historian = await createTokenOver(askAll, {
    name: 'historian',
    type: 'custom',
    allow,
    history: true,
  });
  const site = await createTokenOver(askAll, { name: 'site', type: 'custom', allow });
  const probes = probesOf(planted);
  expect(probes).toHaveLength(PROBES);

  // Without the right: no process starts, and the past is unknown.
  await forEach(probes, async (probe) => {
    const { status, body } = await readWhole(server.url, probe, { authorization: `Bearer ${site}` });
    expect([400, 401, 403, 404], `${probe} ${body}`).toContain(status);
    // An error repeats what the probe names.
    if (!HIDDEN.test(probe)) expect(body, probe).not.toMatch(HIDDEN);
    expect(body, probe).not.toContain('zqprivate@example.org');
  });
  expect(pastsOf(server)).toEqual([]);

  // With the right: hidden values of then are not shown, and each hidden name is as unknown as one that never was.
  let shown = 0;
  const headers = { authorization: `Bearer ${historian}` };
  await forEach(probes, async (probe) => {
    const { status, body } = await readWhole(server.url, probe, headers);
    if (status === 200) {
      shown++;
      // The answer to a search repeats its words.
      expect(body.replace(/"terms":\[[^\]]*\]/, ''), probe).not.toMatch(HIDDEN);
      expect(body, probe).not.toContain('"email"');
    }
    const other = probe.replaceAll('email', 'nobody').replaceAll(/\bchef\b/g, 'nobody');
    if (other === probe) return;
    const unknown = await readWhole(server.url, other, headers);
    const named = (text: string) => text.replaceAll(/\b(email|chef|nobody)\b/g, '…');
    expect([status, named(body)], probe).toEqual([unknown.status, named(unknown.body)]);
  });
  expect(shown).toBeGreaterThan(100);
  expect(pastsOf(server).length).toBeGreaterThan(0);

  // The words were there: a caller with full access finds those that are not private.
  const found = await readWhole(server.url, asOf('/api/chefs?search=zqchef', planted.positions[3] ?? ''), {
    authorization: `Bearer ${full}`,
  });
  expect(found.body).toContain('zqchef');
});
