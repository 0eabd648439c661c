import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PAST_ARGUMENT } from '../../services/supervisor/past-child.ts';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { kindsOf, leakProbes, type Planted } from '../support/leak-probes.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';
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
const HIDDEN = /zqprivate|zqchef|zqdraft|zqerased/i;

/** Returns the content types with a single type, of then or of now: with private attributes that were not private before. */
function typesOf(moment: 'then' | 'now'): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-past-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
  const file = join(folder, 'api/restaurant/content-types/restaurant/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  const email = { type: 'email', private: moment === 'now' };
  schema.attributes.email = email;
  writeFileSync(file, JSON.stringify(schema));
  const chef = { type: 'relation', relation: 'oneToOne', target: 'api::chef.chef' };
  const home = {
    kind: 'singleType',
    info: { singularName: 'home', pluralName: 'homes', displayName: 'Home' },
    options: { draftAndPublish: true },
    attributes: { title: { type: 'string' }, email, chef },
  };
  const single = join(folder, 'api/home/content-types/home');
  mkdirSync(single, { recursive: true });
  writeFileSync(join(single, 'schema.json'), JSON.stringify(home));
  return folder;
}

/** Writes hidden values while the attribute is not private yet, and replaces them. A document is erased, and a draft waits for its time. */
async function plant(data: string): Promise<Planted> {
  const server = await startForTest({ data, contentTypes: typesOf('then') });
  const ask = createAsk(server.url);
  const positions: string[] = [];
  const send = async (method: string, path: string, values?: object) => {
    const { status, body, headers } = await ask(path, { method, ...(values && { body: { data: values } }) });
    expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    positions.push(String(headers.get('varve-position')));
    return body.data as { readonly documentId: string };
  };
  const [chef] = (await ask('/api/chefs?sort=id&pagination[pageSize]=1')).body.data;
  const pages = '/api/restaurants?sort=id&pagination[pageSize]=3';
  const [restaurant, gone, erased] = (await ask(pages)).body.data;
  const [path, goneAt, erasedAt] = [restaurant, gone, erased].map(
    ({ documentId }) => `/api/restaurants/${documentId}`,
  ) as [string, string, string];
  await send('PUT', `/api/chefs/${chef.documentId}`, { name: 'zqchef' });
  const values = { email: 'zqprivate@example.org', chef: chef.documentId };
  await send('PUT', path, values);
  await send('PUT', goneAt, values);
  await send('PUT', '/api/home', { title: 'Home', ...values });
  await send('PUT', erasedAt, {
    name: 'zqerased',
    description: 'zqerased zqerased',
    similar: [restaurant.documentId],
  });
  await send('PUT', `${path}?status=draft`, { name: 'zqdraft' });
  await send('PUT', path, { name: 'Shown', email: 'a@example.org' });
  await send('PUT', '/api/home', { email: 'a@example.org' });
  await send('PUT', `/api/chefs/${chef.documentId}`, { name: 'Somebody' });
  await ask(goneAt, { method: 'DELETE' });
  const document = { type: 'api::restaurant.restaurant', documentId: erased.documentId };
  const ordered = await ask('/_varve/erasures', {
    method: 'POST',
    body: { data: { ...document, confirm: 1 } },
  });
  expect(ordered.status, JSON.stringify(ordered.body)).toBeLessThan(300);
  // The draft will be published in an hour: before that only previews have it.
  await ask(`${path}?status=draft`, { method: 'PUT', body: { data: { name: 'zqdraft' } } });
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await ask(`${path}/actions/publish`, { method: 'POST', body: { data: { at } } });
  expect(scheduled.status, JSON.stringify(scheduled.body)).toBe(202);
  await server.stop();
  const ids = {
    id: restaurant.documentId,
    chef: chef.documentId,
    gone: gone.documentId,
    erased: erased.documentId,
  };
  return { ...ids, positions, preview: at };
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

/** Returns everything that a caller can tell two answers apart by. */
async function seen(url: string, probe: string, token: string | undefined): Promise<string> {
  const { status, body } = await readWhole(
    url,
    probe,
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  );
  return `${status} ${body}`;
}

it(`shows nothing hidden in ${PROBES} probes`, LONG, async () => {
  const data = dataForTest();
  cpSync(await loadedCorpus(), data, { recursive: true });
  const planted = await plant(data);
  const server = await startForTest({
    data,
    contentTypes: typesOf('now'),
    arguments: ['--past-worlds', '8'],
  });
  const full = await createTokenOver(createAsk(server.url), { name: 'full', type: 'full-access' });
  const askAll = createAsk(server.url, full);
  const allow = ['restaurant.find', 'restaurant.findOne', 'home.find', 'dish.find', 'file.find'];
  const custom = (name: string, more: object) =>
    createTokenOver(askAll, { name, type: 'custom', allow, ...more });
  const historian = await custom('historian', { history: true });
  const callers = [await custom('site', {}), await custom('editor', { drafts: true }), undefined];
  const probes = leakProbes(planted, PROBES);
  expect(new Set(probes).size).toBe(PROBES);
  process.stdout.write(`Kinds of probes: ${JSON.stringify(kindsOf(probes))}\n`);

  // Without the right: no process starts, and reads of the past have the answer to an unknown parameter.
  for (const token of callers) {
    await forEach(probes, async (probe) => {
      const answer = await seen(server.url, probe, token);
      if (probe.includes('asOf=')) {
        // An unknown parameter, or a path that the caller may not read: the moment makes no difference.
        expect(answer, probe).toMatch(/^40[134]|^400.*Invalid key asOf/);
        expect(answer, probe).toBe(await seen(server.url, probe.replace(/asOf=.*$/, 'asOf=1'), token));
        return;
      }
      // A path of history is as unknown as one that never was.
      const unknown = probe.replace('/versions', '/vorsions').replace('/_deleted', '/_delated');
      expect(answer, probe).toBe(await seen(server.url, unknown, token));
    });
  }
  expect(pastsOf(server)).toEqual([]);

  // With the right: hidden values of then are not shown, and each hidden name is as unknown as one that never was.
  let shown = 0;
  const headers = { authorization: `Bearer ${historian}` };
  await forEach(probes, async (probe) => {
    const { status, body } = await readWhole(server.url, probe, headers);
    if (status === 200) {
      shown++;
      // The answer to a search repeats its words.
      expect(body.replace(/"(terms|q)":(\[[^\]]*\]|"[^"]*")/g, ''), probe).not.toMatch(HIDDEN);
      expect(body, probe).not.toContain('"email"');
    }
    const other = probe.replaceAll('email', 'nobody').replaceAll(/\bchef\b/g, 'nobody');
    if (other === probe) return;
    const unknown = await readWhole(server.url, other, headers);
    const named = (text: string) => text.replaceAll(/\b(email|chef|nobody)\b/g, '…');
    expect([status, named(body)], probe).toEqual([unknown.status, named(unknown.body)]);
  });
  expect(shown).toBeGreaterThan(PROBES / 20);
  expect(pastsOf(server).length).toBeGreaterThan(0);

  // The words were there: a caller with full access finds those that are not private and not erased.
  const find = async (path: string, moment = planted.positions[5] ?? '') =>
    (await readWhole(server.url, asOf(path, moment), { authorization: `Bearer ${full}` })).body;
  expect(await find('/api/chefs?filters[name]=zqchef')).toContain('zqchef');
  expect(await find('/api/restaurants?search=zqdraft&status=draft')).toContain('"name":"zqdraft"');
  expect(await find('/api/restaurants?search=zqdraft', planted.preview)).toContain('"name":"zqdraft"');
  expect(await find('/api/restaurants?filters[name]=zqerased')).toContain('"data":[]');
});
