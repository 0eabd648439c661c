import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Rebuild, RebuildScope } from '../../../projections/generations/generation.ts';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { type ContentGraph, openContentGraph } from '../../../projections/graph/content-graph.ts';
import { staleDocumentsOf } from '../../../projections/graph/stale/stale-documents.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import type { DocumentSets, OutsideIndices } from '../../../services/read-side/outside-indices.ts';
import { fillDocuments, type GenerationIndices } from '../../../services/rebuild/fill-documents.ts';
import type { RebuildHost } from '../../../services/rebuild/rebuild-host.ts';
import { createThrottle } from '../../../services/rebuild/throttle.ts';
import { verifyNextDocuments } from '../../../services/rebuild/verify-generation.ts';
import { documentDependencies } from '../../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { dataForTest } from '../../support/data-for-test.ts';
import { createMemoryDocumentIndex, type MemoryDocumentIndex } from '../../support/memory-document-index.ts';
import { created, createLog, DEFINITIONS, uid } from '../graph-fixture.ts';

/** A rebuild whose indices another leader removes, or whose shared indices are no longer live. */
const REMOVED = {
  kind: 'again',
  reason: 'index_not_found_exception: no such index [v-tag-draft-2]',
} as const;

let store: GenerationStore;
let graph: ContentGraph;
let index: MemoryDocumentIndex;
/** Content types whose indices in the set are not the live ones. */
let replaced: string[];
let host: RebuildHost;

beforeEach(() => {
  const data = dataForTest();
  store = openGenerationStore(data);
  graph = openContentGraph(join(data, 'graph-2.db'), { dependencies: documentDependencies });
  onTestFinished(() => {
    graph.close();
    store.close();
  });
  const log = createLog();
  const tags = ['red', 'green', 'blue'].map((name) => created('tag', name, { values: { name } }));
  graph.apply(log.add(...DEFINITIONS, ...tags));
  index = createMemoryDocumentIndex(({ type, key }, { row }) => {
    const found = row(type, key);
    return found === undefined ? undefined : Buffer.from(found.source).toString();
  });
  replaced = [uid('tag')];
  const outside: Pick<OutsideIndices, 'own'> = { own: async () => (type) => replaced.includes(type) };
  host = {
    ...{ data, store, definitions: [], takesOver: false, now: Date.now, tell: () => {} },
    log: {} as RebuildHost['log'],
    throttle: createThrottle(undefined),
    plan: { ...embeddedReadSide({}), outside: outside as OutsideIndices },
    report: { info() {}, warn() {}, error() {} },
    withOperations: () => expect.unreachable(),
  };
});

function begin(scope: RebuildScope): Rebuild {
  return store.begin(scope, '2026-11-30T00:00:00.000Z');
}

async function indices(): Promise<GenerationIndices> {
  const stored = { sumOf: () => undefined, sumsAfter: async () => [] };
  const sets = { documents: () => ({ index, stored }) };
  const own = await (host.plan.outside?.own({}) ?? expect.unreachable());
  return { sets: sets as unknown as DocumentSets, set: {}, own };
}

describe('a rebuild of one content type', () => {
  it('is refused at its end if another leader has switched to other indices of the rest meanwhile', async () => {
    const rebuild = begin({ graph: false, type: uid('tag') });
    const opened = await indices();
    const verify = () =>
      verifyNextDocuments(
        host,
        rebuild,
        { made: graph, derived: graph },
        { indices: opened, excused: 'parked' },
      );
    expect(await verify()).toMatchObject({ count: 0 });
    expect(index.visible.size).toBeGreaterThan(0);
    replaced.push(uid('chef'));
    await expect(verify()).rejects.toThrow('the live indices have changed since the rebuild began');
  });
});

describe('a rebuild whose indices are removed', () => {
  it('waits for a minute, fails, and fills them again at the next attempt', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const rebuild = begin({ graph: false, type: uid('tag') });
    await fillDocuments(host, rebuild, graph, await indices());
    const all = index.visible.size;
    expect(all).toBeGreaterThan(1);
    const [first] = staleDocumentsOf(graph).all();
    staleDocumentsOf(graph).remake([first ?? expect.unreachable()]);
    let isMissing = true;
    let refused = 0;
    index.behave({
      outcome() {
        refused++;
        return isMissing ? REMOVED : undefined;
      },
    });
    const failing = fillDocuments(host, rebuild, graph, await indices()).then(() => 'filled', String);
    await vi.waitUntil(() => refused > 0);
    vi.advanceTimersByTime(59_000);
    const before = refused;
    await vi.waitUntil(() => refused > before + 1);
    vi.advanceTimersByTime(2_000);
    expect(await failing).toContain('the indices of the rebuild were removed');
    isMissing = false;
    const earlier = index.requests.length;
    await fillDocuments(host, rebuild, graph, await indices());
    expect(new Set(index.requests.slice(earlier).flat()).size).toBe(all);
  });

  it('continues if they were only late', async () => {
    const rebuild = begin({ graph: false, type: uid('tag') });
    let answers = 0;
    index.behave({ outcome: () => (answers++ < 9 ? REMOVED : undefined) });
    await fillDocuments(host, rebuild, graph, await indices());
    expect(index.visible.size).toBeGreaterThan(0);
  });
});
