import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { elasticsearchReadSide } from '../../services/elasticsearch/elasticsearch-read-side.ts';
import type { Varve } from '../../services/process/open-varve.ts';
import { PURGE_LIMITS } from '../../services/purge/send-purges.ts';
import type { ReadSidePlan } from '../../services/read-side/read-side.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { DEFAULT_DENORMALISE } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { median, num } from '../conformance/bench/common.mjs';
import { removeIndices } from '../support/remove-indices.ts';
import { openInProcess } from '../support/varve-in-process.ts';
import { pairedMedian } from './paired-ratios.ts';

/**
 * `node test/bench/tag-note.ts --elasticsearch URL`: measures how much a write is delayed by noting its changed tags (ADR 31). Two leaders
 * with `--purge` edit in turns, and only one of them notes tags. The time of an edit ends with its answer, when searches show it. The
 * request that notes tags is timed alone too.
 */
const options = new Command()
  .requiredOption('--elasticsearch <url>', 'where Elasticsearch is')
  .option('--pairs <n>', 'pairs of measurements', '101')
  .option('--edits <n>', 'edits per measurement', '8')
  .option('--writers <list>', 'who edit at once', '1,8')
  .option('--warm-up <n>', 'edits before, until the note has as many tags as it can', '600')
  .parse()
  .opts<Record<'elasticsearch' | 'pairs' | 'edits' | 'writers' | 'warmUp', string>>();

const DOCUMENTS = 100;
const NOTES = 200;
const connection = { url: options.elasticsearch };
const report = { info() {}, warn: console.warn, error: console.error };
const closing = new AsyncDisposableStack();

try {
  const [noting, plain] = [await open('noting', (plan) => plan), await open('plain', withoutNotes)];
  await assertNotes(noting.space, true);
  await assertNotes(plain.space, false);
  await measureNote(noting);
  for (const writers of options.writers.split(',').map(Number)) await compare(noting, plain, writers);
} finally {
  await closing.disposeAsync();
}

type Found = { readonly hits: { readonly hits: readonly { readonly _source: object }[] } };
type Site = { readonly space: string; readonly edit: () => Promise<void> };

/** Starts a leader with documents in its own namespace. */
async function open(name: string, change: (plan: ReadSidePlan) => ReadSidePlan): Promise<Site> {
  const space = `note_${process.pid}_${name}`;
  const data = mkdtempSync(join(tmpdir(), 'varve-note-'));
  closing.defer(async () => {
    await removeIndices(options.elasticsearch, space);
    rmSync(data, { recursive: true, force: true });
  });
  const plan = elasticsearchReadSide({
    ...{ connection, space, report, adopt: false, synonyms: {}, rowCacheBytes: 2 ** 27 },
    ...{ spread: { shards: 1, replicas: undefined }, denormalise: DEFAULT_DENORMALISE },
  });
  const purges = {
    ...{ targets: [], style: { soft: false, token: undefined }, limits: PURGE_LIMITS },
    report: { replaced() {}, purged() {}, failed() {}, error: console.error },
  };
  const varve = closing.use(disposable(await openInProcess(data, { space, readSide: change(plan), purges })));
  const { content, registry } = varve.apiFor(FULL_ACCESS);
  const type = registry.contentTypes.get('api::tag.tag');
  if (type === undefined) throw new Error('there are no tags');
  const ids: string[] = [];
  for (let n = 0; n < DOCUMENTS; n++)
    ids.push((await content.create(type, '', { data: { key: `t${n}`, name: 'new' } })).documentId);
  let edits = 0;
  const edit = async () => {
    const documentId = ids[edits % ids.length] ?? '';
    const { body } = await content.update({ type, documentId }, '', { data: { name: `edit ${edits++}` } });
    if (body === null) throw new Error('searches did not show an edit in time');
  };
  for (let n = 0; n < Number(options.warmUp); n++) await edit();
  return { space, edit };
}

function disposable(varve: Varve): Varve & AsyncDisposable {
  return { ...varve, [Symbol.asyncDispose]: varve.close };
}

/** Returns the plan with contents that ignore the tags of changes. */
function withoutNotes(plan: ReadSidePlan): ReadSidePlan {
  return {
    ...plan,
    async open(...given) {
      const readSide = await plan.open(...given);
      const contents: typeof readSide.contents = () => {
        const found = readSide.contents();
        return found.kind === 'documents' ? { ...found, noteTags: () => () => {} } : found;
      };
      return { ...readSide, contents };
    },
  };
}

/** Returns the documents of the index that stores tags. */
async function notesOf(space: string): Promise<readonly object[]> {
  const found = await fetch(`${options.elasticsearch}/${space}-tags/_search`);
  return ((await found.json()) as Found).hits.hits.map(({ _source }) => _source);
}

async function assertNotes(space: string, isNoting: boolean): Promise<void> {
  const hasSet = (await notesOf(space)).some((note) => 'set' in note);
  if (hasSet !== isNoting) throw new Error(`${space} ${isNoting ? 'notes no' : 'notes'} tags`);
}

/** Times the request that an edit waits for: it writes the current document of tags under another id. */
async function measureNote({ space }: Site): Promise<void> {
  const index = `${options.elasticsearch}/${space}-tags`;
  const body = JSON.stringify((await notesOf(space))[0]);
  const times: number[] = [];
  for (let n = 0; n < NOTES; n++) {
    const started = performance.now();
    const headers = { 'content-type': 'application/json' };
    await (await fetch(`${index}/_doc/copy`, { method: 'PUT', headers, body })).arrayBuffer();
    times.push(performance.now() - started);
  }
  console.log(`the note alone, ${body.length} bytes: ${num(median(times))} ms`);
}

/** Returns the milliseconds of each edit. */
async function measure({ edit }: Site, writers: number): Promise<readonly number[]> {
  const times: number[] = [];
  let left = Number(options.edits);
  const write = async () => {
    while (left-- > 0) {
      const started = performance.now();
      await edit();
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return times;
}

async function compare(noting: Site, plain: Site, writers: number): Promise<void> {
  const all: { noting: number[]; plain: number[] } = { noting: [], plain: [] };
  const [ratios, differences]: [number[], number[]] = [[], []];
  for (let pair = 0; pair < Number(options.pairs); pair++) {
    const sides = pair % 2 === 0 ? (['noting', 'plain'] as const) : (['plain', 'noting'] as const);
    const medians = { noting: 0, plain: 0 };
    for (const side of sides) {
      const times = await measure(side === 'noting' ? noting : plain, writers);
      all[side].push(...times);
      medians[side] = median(times);
    }
    ratios.push(medians.noting / medians.plain);
    differences.push(medians.noting - medians.plain);
  }
  const ratio = pairedMedian(ratios);
  const difference = pairedMedian(differences);
  console.log(
    `${writers} at once: an edit takes ${num(median(all.noting))} ms with the note, ${num(median(all.plain))} ms without; difference ` +
      `${num(difference.median)} ms (${num(difference.low)} to ${num(difference.high)}), ratio ` +
      `${num(ratio.median)} (${num(ratio.low)} to ${num(ratio.high)}) in ${ratios.length} pairs`,
  );
}
