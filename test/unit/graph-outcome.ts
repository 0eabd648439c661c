import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  createComparison,
  createDigestSum,
  differingGroups,
  type Item,
} from '../../projections/generations/digest.ts';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { uid } from './graph-fixture.ts';

function replayed(path: string, batches: readonly (readonly StoredEvent[])[]): string {
  rmSync(path, { force: true });
  const graph = openContentGraph(path);
  for (const events of batches) graph.apply(events);
  graph.close();
  return path;
}

function digestOf(items: readonly Item[]) {
  const sum = createDigestSum();
  for (const item of items) sum.add(item);
  return sum.digest();
}

/** Replays events one by one into one graph, and in one batch into another. Checks that both are equal. Returns functions that read the second one. */
export function graphOutcome(folder: string, events: readonly StoredEvent[]) {
  const followed = readGraphContents(
    replayed(
      join(folder, 'followed.db'),
      events.map((event) => [event]),
    ),
  );
  const rebuilt = readGraphContents(replayed(join(folder, 'rebuilt.db'), [events]));
  const [before, after] = [followed, rebuilt].map((contents) => [...contents.items({})]) as [Item[], Item[]];
  const groups = differingGroups(digestOf(before), digestOf(after));
  const comparison = createComparison(10);
  for (const item of before) if (groups.includes(item.group)) comparison.before(item);
  for (const item of after) if (groups.includes(item.group)) comparison.after(item);
  expect({ groups, ...comparison.result() }).toEqual({ groups: [], differences: [], count: 0 });
  expect(rebuilt.count()).toBeGreaterThan(0);
  followed.close();
  rebuilt.close();
  const graph = openContentGraph(join(folder, 'rebuilt.db'));
  const read = (type: string, documentId: string) =>
    graph.reader
      .entries(uid(type), documentId)
      .map(({ version, locale, id, values }) => ({ version, locale, id, values }));
  const links = (type: string, documentId: string, attribute: string, locale: string | null = null) =>
    graph.reader.linkedTargets(uid(type), documentId, locale, attribute);
  return { read, links, close: () => graph.close() };
}
