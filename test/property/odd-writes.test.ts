import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import {
  createOddCounts,
  describeAnswers,
  describeAsked,
  documentIdOf,
  isSameWrite,
  notShownCode,
} from '../fuzz/odd-counts.ts';
import { makeOddReads } from '../fuzz/odd-reads.ts';
import { writeOddTypes } from '../fuzz/odd-types.ts';
import { createOddWrites, ODD_TAGS, type OddWrite } from '../fuzz/odd-writes.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createRandom } from '../support/naive-random.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import {
  type Answer,
  areEqual,
  importLines,
  sendAsked,
  startTwoEngines,
  type TwoEngines,
} from '../support/two-engines.ts';

/** VARVE_ODD_WRITES=5000 takes some minutes. */
const WRITES = Number(process.env['VARVE_ODD_WRITES'] ?? 200);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 101);
const REPLAYED = 200;
const BATCH = 25;
const MOST_FINDINGS = 5;
/** A busy Elasticsearch shows a document with thousands of parts later. */
const PATIENCE_MS = 30_000;
/** With a limit of time a busy machine would refuse reads on one engine only. */
const LIMITS = ['--body-limit', '30000000', '--query-time-limit', '60000'];
const TAGS = Array.from({ length: ODD_TAGS }, (_, n) => ({
  type: 'tag',
  key: `t${n}`,
  state: 'live',
  data: { name: `tag ${String(n).padStart(5, '0')}`, weight: n / 8 },
}));
const SOME_TAGS = { method: 'GET', path: '/api/tags?pagination[pageSize]=40&fields=id' };
const space = `odd_writes_${process.pid}`;

describe(`odd writes on both engines (seed ${SEED}, ${WRITES} writes)`, {
  ...(await needsElasticsearch()),
  timeout: 300_000 + WRITES * 2_000,
}, () => {
  const types = writeOddTypes();
  let engines: TwoEngines;

  beforeAll(async () => {
    engines = await startTwoEngines({ contentTypes: types, space, lines: TAGS, arguments: LIMITS });
  }, 180_000);
  afterAll(async () => {
    await engines?.dispose();
    rmSync(types, { recursive: true, force: true });
  });

  /** Returns whether both servers show a thing alike, in all locales. It waits for a while. */
  async function isShown(id: string): Promise<boolean> {
    const path = `/api/things?filters[documentId]=${id}&status=draft&locale=*`;
    return areEqual(await engines.askUntilEqual({ method: 'GET', path }, PATIENCE_MS));
  }

  it('are stored, refused and shown alike', async () => {
    const random = createRandom(SEED);
    const registry = registryOf(types);
    const { embedded } = await engines.ask(SOME_TAGS);
    const tags = documentIdsOf(embedded);
    const writes = createOddWrites({ random, registry, name: `odd-${SEED}`, tags });
    const counts = createOddCounts();
    const findings: string[] = [];
    const find = (finding: string): void => {
      console.log(finding);
      findings.push(finding);
    };
    /** Reasons why the last write of a document was not shown, by its id. */
    const notShown = new Map<string, string>();
    const carryOut = async (write: OddWrite, n: number): Promise<void> => {
      const answers = await engines.ask(write);
      counts.addWrite(answers);
      if (!isSameWrite(answers)) find(`${n}: ${describeAsked(write)}\n${describeAnswers(answers)}`);
      writes.note(write, answers.embedded.status, answers.embedded.body);
      const code = notShownCode(answers.outside);
      if (code !== undefined) notShown.set(documentIdOf(answers.outside) ?? '', code);
    };
    /** Removes documents that Elasticsearch refuses. Others that were not shown in time have to be shown now. */
    const settle = async (n: number): Promise<void> => {
      for (const [id, code] of notShown) {
        const isRefused =
          code === 'document-refused' || (!(await isShown(id)) && (await becomesParked(engines, id)));
        if (isRefused) await carryOut(writes.removal(id), n);
      }
      notShown.clear();
    };
    const compare = async (n: number): Promise<void> => {
      const source = { random, registry, written: writes.written(), documents: writes.documents() };
      for (const path of makeOddReads(source)) {
        const answers = await engines.askUntilEqual({ method: 'GET', path }, PATIENCE_MS);
        counts.addRead(answers);
        if (!areEqual(answers) || answers.embedded.status >= 500)
          find(`after ${n}: GET ${path.slice(0, 600)}\n${describeAnswers(answers)}`);
      }
    };
    for (let n = 1; n <= WRITES && findings.length < MOST_FINDINGS; n++) {
      await carryOut(writes.next(), n);
      if (n % BATCH !== 0 && n !== WRITES) continue;
      await settle(n);
      await compare(n);
      for (const write of writes.removals()) await carryOut(write, n);
    }
    console.log(`seed ${SEED}: ${counts.text()}`);
    expect(findings).toEqual([]);
    expect(counts.accepted()).toBeGreaterThan(WRITES / 3);
    for (const server of [engines.embedded, engines.outside])
      expect(server.output()).not.toContain('the worker crashed');
    const verified = await runVarve(['verify', '--data', engines.outside.data]);
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
    const [first, second] = await engines.events();
    expect(second).toEqual(first);
  });
});

describe(`odd writes in a log that is replayed (seed ${SEED}, ${REPLAYED} writes)`, {
  ...takesMinutes('odd writes that are replayed'),
  timeout: 300_000,
}, () => {
  it('are shown by a process that was not there as by one that was', async () => {
    const contentTypes = writeOddTypes();
    const [first, second] = [createDataDirectory(), createDataDirectory()];
    onTestFinished(() => {
      for (const folder of [contentTypes, first, second]) rmSync(folder, { recursive: true, force: true });
    });
    await importLines({ contentTypes, space, lines: TAGS }, first);
    const common = [...LIMITS, '--space', space];
    const server = await startServer({ contentTypes, data: first, arguments: common });
    onTestFinished(server.dispose);
    const [random, registry] = [createRandom(SEED), registryOf(contentTypes)];
    const tags = documentIdsOf(await sendAsked(server, SOME_TAGS));
    const writes = createOddWrites({ random, registry, name: 'odd', tags });
    for (let n = 1; n <= REPLAYED; n++) {
      const write = writes.next();
      const { status, body } = await sendAsked(server, write);
      expect(status, describeAsked(write)).toBeLessThan(500);
      writes.note(write, status, body);
    }
    const log = ['--event-store', `sqlite:${join(first, 'events.db')}`];
    const replayed = await startServer({ contentTypes, data: second, arguments: [...common, ...log] });
    onTestFinished(replayed.dispose);
    const source = { random, registry, written: writes.written(), documents: writes.documents() };
    for (const path of Array.from({ length: 3 }, () => makeOddReads(source)).flat()) {
      const asked = { method: 'GET', path };
      expect(await sendAsked(replayed, asked), path).toEqual(await sendAsked(server, asked));
    }
  });
});

function documentIdsOf({ body }: Answer): readonly string[] {
  return (body as { data: { documentId: string }[] }).data.map(({ documentId }) => documentId);
}

function registryOf(types: string): SchemaRegistry {
  const loaded = loadContentTypes(types);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded.registry;
}

/** Returns whether Elasticsearch refuses a document. A document that is tried again is not listed meanwhile. */
async function becomesParked({ outside }: TwoEngines, id: string): Promise<boolean> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const parked = await jsonOf<readonly { documentId: string }[]>([
      'parked',
      'list',
      '--json',
      '--data',
      outside.data,
    ]);
    if (parked.some(({ documentId }) => documentId === id)) return true;
  }
  return false;
}
