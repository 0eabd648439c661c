import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { makePastGraph } from '../../services/past/make-past-graph.ts';
import { fitsPart, type GraphSnapshot, isSnapshotDue } from '../../services/past/snapshot-pace.ts';
import { expandSnapshot, listSnapshots, removeOtherSnapshots } from '../../services/past/snapshots.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';

it('is due when the log has grown by four times its size, and takes at most a quarter of the log', () => {
  const MB = 2 ** 20;
  for (const graphMb of [10, 100, 300]) {
    const snapshots: GraphSnapshot[] = [];
    // A log of 1 kB an event, whose graph grows for the first half of it.
    for (let position = 4_000n; position <= 1_000_000n; position += 4_000n) {
      const logBytes = Number(position) * 1_000;
      const graphBytes = () => Math.min(1, Number(position) / 500_000) * graphMb * MB;
      const place = { position, end: position, logBytes, graphBytes, leastApart: 16 * MB };
      if (isSnapshotDue({ ...place, snapshots }))
        snapshots.unshift({ file: '', position, bytes: graphBytes() / 5 });
      expect(fitsPart(snapshots, logBytes)).toBe(true);
      // One that is between two others is due only far from both.
      for (const each of snapshots)
        expect(isSnapshotDue({ ...place, snapshots, position: each.position + 1n })).toBe(false);
    }
    expect(snapshots.length).toBeGreaterThan(2);
  }
});

it('gives the same graph from each snapshot, and removes those that cannot be used', async () => {
  const data = await loadedCorpus();
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  const folder = dataForTest();
  const snapshots = { folder, generation: 1 };
  const end = await log.lastPosition();
  const problems: string[] = [];
  let made = 0;
  const make = async (position: bigint, leastApart = Number.POSITIVE_INFINITY) => {
    const file = join(folder, `graph-${++made}.db`);
    const { from } = await makePastGraph({
      log,
      mayBeLater: false,
      space: 'varve',
      file,
      position,
      live: undefined,
      snapshots,
      logBytes: () => statSync(join(data, 'events.db')).size * 1_000,
      types: [],
      leastApart,
      report: (problem, error) => problems.push(`${problem}: ${error}`),
    });
    const graph = openContentGraph(file);
    const digest = createHash('sha256');
    for (const batch of graph.readAll())
      digest.update(JSON.stringify(batch, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
    graph.close();
    return { from, content: digest.digest('hex') };
  };
  const truth = await make(end, 1);
  expect(truth.from).toBe(0n);
  await make(end / 2n, 1);
  const all = listSnapshots(snapshots);
  expect(all).toHaveLength(2);
  const [latest, before] = all as [GraphSnapshot, GraphSnapshot];
  expect(await make(end)).toEqual({ ...truth, from: latest.position });
  expect((await make(latest.position - 1n)).from).toBe(before.position);

  // Damaged, of another position, of another log, of an earlier program.
  const bytes = readFileSync(latest.file);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(latest.file, bytes);
  await expect(expandSnapshot(latest, join(folder, 'damaged.db'))).rejects.toThrow();
  const moved = join(folder, `${latest.position - 1n}-1-3.db.zst`);
  copyFileSync(before.file, moved);
  expect(await make(end)).toEqual({ ...truth, from: before.position });
  expect(problems).toHaveLength(2);
  expect(listSnapshots(snapshots).map(({ position }) => position)).not.toContain(latest.position);
  copyFileSync(before.file, join(folder, '9-2-3.db.zst'));
  copyFileSync(before.file, join(folder, '9-1-1.db.zst'));
  removeOtherSnapshots(snapshots);
  expect(readdirSync(folder).filter((name) => /^9-/.test(name))).toEqual([]);
  expect(listSnapshots(snapshots)).toContainEqual(before);
  await log.close();

  const other = openSqliteEventStore(join(dataForTest(), 'events.db'), { space: 'varve', decode: upcast });
  const file = join(folder, 'other.db');
  const options = {
    snapshots,
    logBytes: () => 0,
    types: [],
    leastApart: 1,
    live: undefined,
    mayBeLater: false,
  };
  await makePastGraph({ ...options, log: other, space: 'varve', file, position: end, report: () => {} });
  expect(listSnapshots(snapshots)).toEqual([]);
  await other.close();
});
