import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeSnapshot } from '../../services/past/snapshots.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { createCorpusWriter } from '../support/corpus-writes.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';
import { createRandom } from '../support/naive-random.ts';
import { asOf, cutData, readsFor, readWhole } from '../support/past-requests.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';
import { openInProcess } from '../support/varve-in-process.ts';

/** Reads as of a moment are compared with those of a server whose log ends there, and which has the content types of now. */
const LONG = { ...takesMinutes('reads as of a moment, compared with servers on cut logs'), timeout: 900_000 };
const HISTORIES = count(3, 1);
const WRITES = 150;
const READS = Number(process.env['VARVE_PAST_READS'] ?? 250);

/**
 * Makes random writes to a copy of the corpus, and snapshots on the way. Returns the folder, the position before and after the writes, and the
 * positions of the snapshots.
 */
async function makeHistory(seed: number, snapshots = 0) {
  const data = dataForTest();
  cpSync(await loadedCorpus(), data, { recursive: true });
  const varve = await openInProcess(data);
  const { log } = varve.operator;
  const from = await log.lastPosition();
  const { content } = varve.apiFor(FULL_ACCESS);
  const writer = await createCorpusWriter(content, varve.registry, createRandom(seed));
  const made: bigint[] = [];
  for (let i = 0; i < WRITES; i++) {
    await writer.write();
    if (made.length >= snapshots || (i * (snapshots + 1)) / WRITES < made.length + 1) continue;
    mkdirSync(join(data, 'past'), { recursive: true });
    const where = { folder: join(data, 'past'), generation: 1 };
    made.push((await writeSnapshot(join(data, 'graph.db'), where, join(data, 'scratch'))).position);
  }
  const to = await log.lastPosition();
  await varve.close();
  return { data, from, to, snapshots: made };
}

/** Returns the content types with changes: an attribute with another name, a private one, one that is gone, and a new one. */
function changedTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-past-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
  const file = join(folder, 'api/restaurant/content-types/restaurant/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  const { description, email, visits, ...others } = schema.attributes;
  const summary = { ...description, pluginOptions: { varve: { renamedFrom: 'description' } } };
  schema.attributes = { ...others, summary, email: { ...email, private: true }, added: { type: 'integer' } };
  expect(visits).toBeDefined();
  writeFileSync(file, JSON.stringify(schema));
  return folder;
}

async function compare(data: string, moments: readonly bigint[], args: readonly string[], types?: string) {
  const options = { arguments: args, ...(types !== undefined && { contentTypes: types }) };
  // The log says from which position each past began.
  const logged = { ...options, arguments: [...args, '--log-level', 'info'] };
  const present = await startForTest({ data, ...logged });
  let compared = 0;
  for (const moment of moments) {
    const then = await startForTest({ data: cutData(data, moment), ...options });
    for (const path of readsFor(Number(moment), READS)) {
      const [past, truth] = [
        await readWhole(present.url, asOf(path, moment)),
        await readWhole(then.url, path),
      ];
      expect(past, `${path} as of ${moment}`).toEqual(truth);
      compared++;
    }
    await then.stop();
  }
  await present.stop();
  return { compared, began: present.output() };
}

it('answers as a server on the log up to that moment, for random histories', LONG, async () => {
  const random = createRandom(4);
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { data, from, to } = await makeHistory(seed);
    const moments = [from, to, BigInt(random.between(Number(from), Number(to)))];
    const { compared, began } = await compare(data, moments, []);
    expect(compared).toBeGreaterThan(READS);
    expect(began).toContain('"from":"0"');
  }
});

it('answers the same from snapshots of the graph', LONG, async () => {
  const { data, to, snapshots } = await makeHistory(7, 3);
  // At a snapshot, and some events after one. The live graph is later than both, so it is of no use.
  const moments = [snapshots[0], snapshots[1]].map((position) => (position as bigint) + 4n);
  const { compared, began } = await compare(data, [...moments, snapshots[2] as bigint], []);
  expect(compared).toBeGreaterThan(READS);
  for (const position of snapshots) expect(began).toContain(`"from":"${position}"`);
  expect(to).toBeGreaterThan(snapshots[2] as bigint);
});

it('answers with the content types of now as a server that changes them at that moment', LONG, async () => {
  const { data, from, to, snapshots } = await makeHistory(9, 1);
  const accept = ['--accept-loss', 'api::restaurant.restaurant.visits'];
  const moments = [from, (from + to) / 2n, (snapshots[0] as bigint) + 1n];
  const { compared, began } = await compare(data, moments, accept, changedTypes());
  expect(compared).toBeGreaterThan(READS);
  expect(began).toContain(`"from":"${snapshots[0]}"`);
});

it('shows a caller with the right what the same rights show of the present', LONG, async () => {
  const server = await startForTest({ data: (await makeHistory(5)).data });
  const full = await createTokenOver(createAsk(server.url), { name: 'full', type: 'full-access' });
  const askAll = createAsk(server.url, full);
  const allow = ['restaurant.find', 'restaurant.findOne', 'country.find', 'article.find', 'file.find'];
  const token = await createTokenOver(askAll, { name: 'historian', type: 'custom', allow, history: true });
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await askAll('/_varve/events?limit=1');
  const [{ position }] = body.data;
  let shown = 0;
  // Users have a past with full access only.
  const paths = readsFor(5, READS).filter((path) => !path.startsWith('/api/users'));
  for (const path of paths) {
    const past = await readWhole(server.url, asOf(path, position), headers);
    expect(past, path).toEqual(await readWhole(server.url, path, headers));
    if (past.status === 200) shown++;
  }
  expect(shown).toBeGreaterThan(10);
  expect(shown).toBeLessThan(paths.length);
});
