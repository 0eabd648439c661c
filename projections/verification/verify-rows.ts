import { setTimeout as delay } from 'node:timers/promises';
import type { IndexedContent } from '../../shared/read-index/indexed-content.ts';
import { type ReadIndex, type World, worldsOfType } from '../../shared/read-index/read-index.ts';
import { remembered } from '../../shared/remembered.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import { type GraphInspection, type InspectedRow, worldsOfKey } from '../graph/read/inspect-graph.ts';
import { createRowComparison } from './compare-row.ts';
import { type IndexDifference, UNKNOWN_DOCUMENT, type VerificationLine } from './difference.ts';

export type RowVerification = {
  readonly graph: ContentGraph;
  readonly index: Pick<ReadIndex, 'apply' | 'position'>;
  readonly content: (world: World) => IndexedContent;
  readonly repair: boolean;
  /** Milliseconds between slices, in which other work of the process runs. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
};

/** Rows that are compared at once. They take some milliseconds, in which nothing else is answered. */
const SLICE = 64;

/**
 * Compares an index of rows in this process with its graph, while both continue to change. It compares one slice at a time, each at one
 * position. With `repair`, differing rows are written again at once. Throws when `signal` is aborted.
 */
export async function* verifyRows(options: RowVerification): AsyncGenerator<VerificationLine> {
  const { rows: count } = options.graph.size();
  let checked = 0;
  for (const slices of [expectedRows, indexedRows]) {
    let from: string | undefined = '';
    while (from !== undefined) {
      await awaitCaughtUp(options);
      const { differences, rows, next }: Slice = slices(options, from);
      checked += rows;
      for (const difference of differences) yield { kind: 'difference', ...difference };
      yield { kind: 'progress', checked, rows: 2 * count };
      from = next;
    }
  }
}

/** Waits until the index has caught up with the graph. In between, a batch is on its way from the graph to the index. */
async function awaitCaughtUp({ graph, index, pauseMs, signal }: RowVerification): Promise<void> {
  do {
    await delay(pauseMs, undefined, { signal });
  } while (graph.position() !== index.position());
}

type Slice = {
  readonly differences: readonly IndexDifference[];
  readonly rows: number;
  /** Key to continue from. */
  readonly next: string | undefined;
};

/** Compares rows of the graph, which the index must have. */
function expectedRows(options: RowVerification, from: string): Slice {
  const inspection = options.graph.inspect();
  const rows = inspection.rowsAfter(Number(from), SLICE);
  const last = rows.at(-1);
  const differences = rows.flatMap((row) => differencesOf(options, inspection, row));
  return { differences, rows: rows.length, next: last === undefined ? undefined : String(last.key) };
}

/** Compares rows of the index, which the graph must have. `from`: content type, world and key. */
function indexedRows(options: RowVerification, from: string): Slice {
  const inspection = options.graph.inspect();
  const rowSets = [...options.graph.registry().contentTypes.values()].flatMap(({ uid, draftAndPublish }) =>
    worldsOfType(draftAndPublish).map((world) => ({ type: uid, world })),
  );
  const [number = 0, start = 0] = from === '' ? [] : from.split(' ').map(Number);
  const asked = rowSets[number];
  if (asked === undefined) return { differences: [], rows: 0, next: undefined };
  const { keys, next } = options.content(asked.world).keys(asked.type, start, SLICE * 16);
  const expected = inspection.world(asked.world);
  const differences = keys.flatMap((key) =>
    expected.row(asked.type, key) === undefined
      ? differencesOf(options, inspection, { type: asked.type, key })
      : [],
  );
  return {
    differences,
    rows: keys.length,
    next: next === undefined ? `${number + 1} 0` : `${number} ${next}`,
  };
}

function differencesOf(
  { graph, index, content, repair }: RowVerification,
  inspection: GraphInspection,
  row: InspectedRow,
): readonly IndexDifference[] {
  const compare = comparisonFor(graph.registry());
  const { documentId, locale } = inspection.nameOf(row.key) ?? UNKNOWN_DOCUMENT;
  const differences = worldsOfKey(row.key).flatMap((world): readonly IndexDifference[] => {
    const differing = compare(row.type, row.key, inspection.world(world), content(world));
    if (differing.length === 0) return [];
    return [{ ...row, world, documentId, locale, differing, repaired: repair }];
  });
  // Both changes are applied before anything else runs, so no reader sees that the row is missing.
  if (repair && differences.length > 0)
    // Ends the process if a change fails: the state of the index is not known then.
    for (const batch of inspection.changesOf(row)) void index.apply(batch);
  return differences;
}

const comparisonFor = remembered(createRowComparison);
