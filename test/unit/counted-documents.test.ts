import path from 'node:path';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { takeAll } from '../support/graph-documents.ts';
import { created, createLog, DEFINITIONS, deleted, published, uid, withFolder } from './graph-fixture.ts';

const [TAG, CHEF] = [uid('tag'), uid('chef')] as [Uid, Uid];
const exactly = (count: number) => ({ least: count, most: count });

/** Runs `work` with a graph of two tags, and of two chefs, one of which is published. */
function withChefs(work: (given: ReturnType<typeof setting>) => void): void {
  withFolder((folder) => {
    const given = setting(path.join(folder, 'graph.db'));
    work(given);
    given.close();
  });
}

function setting(file: string) {
  const open = () => openContentGraph(file, { dependencies: documentDependencies });
  let graph = open();
  const log = createLog();
  graph.apply(log.add(...DEFINITIONS));
  staleDocumentsOf(graph).markAll([]);
  const apply = (...events: readonly VarveEvent[]) => graph.apply(log.add(...events));
  apply(created('tag', 't1'), created('tag', 't2'), created('chef', 'c1'), created('chef', 'c2'));
  apply(published('chef', 'c1'));
  return {
    apply,
    stale: () => staleDocumentsOf(graph),
    written: () => takeAll(graph),
    counts: () => {
      const { counted } = staleDocumentsOf(graph);
      return [
        counted(TAG, 'draft'),
        counted(TAG, 'published'),
        counted(CHEF, 'draft'),
        counted(CHEF, 'published'),
      ];
    },
    reopen() {
      graph.close();
      graph = open();
    },
    close: () => graph.close(),
  };
}

it('counts the rows of a type in each world, also after the file was opened again', () => {
  withChefs(({ apply, written, counts, reopen }) => {
    written();
    expect(counts()).toEqual([exactly(2), exactly(2), exactly(2), exactly(1)]);
    apply(deleted('tag', 't1'), deleted('chef', 'c1'));
    written();
    const after = [exactly(1), exactly(1), exactly(1), exactly(0)];
    expect(counts()).toEqual(after);
    reopen();
    expect(counts()).toEqual(after);
  });
});

it('is unknown for a type with stale documents, and for all while searches lack some', () => {
  withChefs(({ apply, stale, written, counts }) => {
    const unknown = [undefined, undefined, undefined, undefined];
    written();
    apply(created('tag', 't3'));
    expect(counts()).toEqual([undefined, undefined, exactly(2), exactly(1)]);
    written();
    stale().noteUnseen(1);
    expect(counts()).toEqual(unknown);
    stale().noteUnseen(0);
    expect(counts()[0]).toEqual(exactly(3));
    stale().invalidate();
    expect(counts()).toEqual(unknown);
  });
});

it('is a range where documents are parked, dropped or not', () => {
  withChefs(({ apply, stale, written, counts }) => {
    written();
    apply(created('tag', 't3'));
    const refused = stale().next('edits', 10, new Map());
    const position = BigInt(Math.max(...refused.map((row) => row.position)));
    stale().settle(
      position,
      refused.map((document) => ({ document, refused: document.world === 'draft' ? 'no' : undefined })),
    );
    const range = [{ least: 2, most: 4 }, exactly(3), exactly(2), exactly(1)];
    expect(counts()).toEqual(range);
    stale().parked.drop(stale().parked.list());
    expect(counts()).toEqual(range);
  });
});
