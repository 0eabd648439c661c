import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { count } from '../support/takes-minutes.ts';
import { createLog, uid } from '../unit/graph-fixture.ts';
import { steps } from '../unit/graph-history.ts';
import { graphOutcome } from '../unit/graph-outcome.ts';
import { ATTRIBUTE_CHANGES, placeChanges, ROW_CHANGES, typeChanges } from '../unit/type-changes.ts';

/**
 * Random changes of content types in the middle of random histories. A graph that followed the log equals one that was rebuilt from it. After
 * the original definitions are back, it has the same content as a graph whose content types never changed.
 */
const RUNS = Number(process.env['GRAPH_RUNS'] ?? count(60, 10));
const SEED = Number(process.env['SEED'] ?? 14);

function inFolder<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'varve-restored-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const COMPARED = ['country', 'tag', 'chef', 'restaurant', 'menu', 'review'];

/** Returns the content of a graph, without the ids of components and the positions and times of edits. */
function contentOf(folder: string, events: readonly StoredEvent[]) {
  const graph = openContentGraph(join(folder, 'content.db'));
  for (const event of events) graph.apply([event]);
  const content: Record<string, unknown> = {};
  for (const type of COMPARED)
    for (let n = 0; n < 3; n++) {
      const documentId = `${type}${n}`;
      for (const { version, values, ...row } of graph.reader.entries(uid(type), documentId))
        content[`${documentId} ${version}`] = withoutIds({ values, id: row.id });
    }
  for (const batch of graph.readAll())
    for (const { rowSet, attribute, world, source, target, sourceOrder } of batch.links as never as Linked[])
      if (rowSet.path.length === 0 && COMPARED.some((type) => uid(type) === rowSet.type))
        if (sourceOrder !== null) content[`${rowSet.type} ${attribute} ${world} ${source} ${target}`] = true;
  graph.close();
  return content;
}

type Linked = {
  readonly rowSet: { readonly type: string; readonly path: readonly unknown[] };
  readonly attribute: string;
  readonly world: string;
  readonly source: number;
  readonly target: number;
  readonly sourceOrder: number | null;
};

function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'id' ? undefined : each)));
}

it('brings back what a change of content types hid, as if it had never happened', () => {
  fc.assert(
    fc.property(steps(), typeChanges(ATTRIBUTE_CHANGES), (history, wanted) => {
      const { changing, unchanging } = placeChanges(history, wanted);
      inFolder((folder) => {
        const changed = createLog().add(...changing);
        graphOutcome(folder, changed).close();
        const found = inFolder((own) => contentOf(own, changed));
        const expected = inFolder((own) => contentOf(own, createLog().add(...unchanging)));
        expect(found).toEqual(expected);
      });
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

it('a graph that followed any changes equals one that was rebuilt', () => {
  fc.assert(
    fc.property(steps(), typeChanges([...ATTRIBUTE_CHANGES, ...ROW_CHANGES]), (history, wanted) => {
      const { changing } = placeChanges(history, wanted);
      inFolder((folder) => graphOutcome(folder, createLog().add(...changing)).close());
    }),
    { seed: SEED, numRuns: RUNS },
  );
});
