import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import {
  createElasticsearchCluster,
  documentDependencies,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { typeSlug } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import { digestText } from '../../shared/text-digest.ts';

/** Checksums of the documents in indices, by `<slug of the type>-<world> <key>`. */
export type DocumentSums = ReadonlyMap<string, string>;

/**
 * Returns a digest of every index: of the keys and sums of its documents, in order. It omits indices without
 * documents.
 */
export function indexDigests(sums: DocumentSums): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>();
  for (const [name, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [index = ''] = name.split(' ');
    lines.set(index, [...(lines.get(index) ?? []), `${name} ${sum}`]);
  }
  return new Map([...lines].map(([index, ofIndex]) => [index, digestText(ofIndex.join('\n'))]));
}

/** Returns the sums of all documents that searches of a namespace find. */
export async function foundSums(url: string, space: string): Promise<DocumentSums> {
  const aliases = (await (await fetch(`${url}/_cat/aliases/${space}-*?format=json`)).json()) as {
    readonly alias: string;
  }[];
  const sums = new Map<string, string>();
  for (const { alias } of aliases.filter(
    (each) => !/-(write|kept|dropped|lead-\d+|(building|previous)-[\da-f]+)$/.test(each.alias),
  )) {
    let after: number | undefined;
    for (;;) {
      const hits = await searchSums(url, alias, after);
      for (const { key, sum } of hits) sums.set(`${alias.slice(space.length + 1)} ${key}`, sum);
      after = hits.at(-1)?.key;
      if (after === undefined) break;
    }
  }
  return sums;
}

async function searchSums(url: string, alias: string, after: number | undefined) {
  const answer = await fetch(`${url}/${alias}/_search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      size: 5000,
      sort: ['key'],
      docvalue_fields: ['key', 'sum'],
      _source: false,
      ...(after === undefined ? {} : { search_after: [after] }),
    }),
  });
  const body = (await answer.json()) as {
    readonly hits: { readonly hits: readonly { readonly fields: { key: [number]; sum: [string] } }[] };
  };
  if (!answer.ok) throw new Error(JSON.stringify(body));
  return body.hits.hits.map(({ fields }) => ({ key: fields.key[0], sum: fields.sum[0] }));
}

/** Returns the sums of a rebuild from the log of a data directory whose server has stopped. */
export async function rebuiltSums(data: string, space: string): Promise<DocumentSums> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-log-'));
  for (const name of ['events.db', 'events.db-wal']) {
    if (existsSync(join(data, name))) copyFileSync(join(data, name), join(folder, name));
  }
  const log = openSqliteEventStore(join(folder, 'events.db'), { space, decode: upcast });
  try {
    return await sumsOfLog(log, space);
  } finally {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the sums of the documents of a new graph that is built from a log. */
export async function sumsOfLog(log: EventStore, space: string): Promise<DocumentSums> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-rebuilt-'));
  const graph = openContentGraph(join(folder, 'graph.db'), { dependencies: documentDependencies });
  try {
    for await (const events of log.readAll(0n, { batchSize: 1000 })) graph.replay(events);
    const { createWriter, close } = createElasticsearchCluster({
      connection: {},
      space,
      registry: graph.registry(),
    });
    const writer = createWriter();
    const sums = new Map<string, string>();
    for (const document of graph.stale?.all() ?? []) {
      const { row, neighbours } = graph.stale?.read(document) ?? {};
      if (row === undefined || neighbours === undefined) continue;
      const [, body = '{}'] = String(writer.present(row, neighbours).bytes).split('\n');
      const { sum } = JSON.parse(body) as { readonly sum?: string };
      sums.set(`${typeSlug(document.type)}-${document.world} ${document.key}`, String(sum));
    }
    await close();
    return sums;
  } finally {
    graph.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
