import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { changeAhead } from '../../projections/graph/converted-copy.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import { applyDueReleases } from '../../services/releases/apply-due.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import {
  type ReleaseAction,
  type ReleaseEvent,
  releaseStream,
} from '../../shared/releases/release-events.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2031-01-01T00:00:00.000Z');

type Change = Omit<ReleaseAction, 'id'>;

function release(id: number, hour: number, actions: readonly Change[]): readonly ReleaseEvent[] {
  const scheduledAt = new Date(NOW + hour * HOUR).toISOString();
  const put = actions.map((action, n) => ({ ...action, id: 10 * id + n }));
  return [
    {
      type: 'release-defined',
      data: { id, name: `release ${id}`, scheduledAt, timezone: null, single: false },
    },
    { type: 'release-changed', data: { id, put, removed: [] } },
  ];
}

it('applies the releases that are due, in the order of their times, and nothing of one that would be refused', async () => {
  const folder = dataForTest();
  copyFileSync(join(await loadedCorpus(), 'events.db'), join(folder, 'events.db'));
  const log = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve', decode: upcast });
  const [published] = await eventsOf(log.readAll(0n), 'entry-published');
  const { type, documentId, locale } = (published as StoredEvent).data as Pick<Change, 'locale'> & {
    readonly type: Change['contentType'];
    readonly documentId: string;
  };
  const action = { contentType: type, entryDocumentId: documentId, locale };
  const [publish, unpublish] = [
    { ...action, type: 'publish' },
    { ...action, type: 'unpublish' },
  ] as const;
  const missing = { ...publish, entryDocumentId: 'missing' };
  const changes = [
    ...release(1, 3, [publish]),
    ...release(2, 1, [unpublish]),
    ...release(3, 2, [publish, missing]),
    ...release(4, 2, []),
  ];
  const metadata = { at: new Date(NOW).toISOString(), epoch: 1 };
  const events = changes.map((event) => newEvent(event, metadata));
  await log.append(releaseStream('varve'), 'none', events.slice(0, -2));
  const position = await log.lastPosition();
  // Later than the position.
  await log.append(releaseStream('varve'), 'any', events.slice(-2));
  await log.append(releaseStream('varve'), 'any', [
    newEvent({ type: 'release-removed', data: { id: 2 } }, metadata),
  ]);
  const made = openContentGraph(join(folder, 'made.db'));
  await catchUp(log, made, { until: position });
  made.settle();
  made.close();

  /** Returns when the document is published, as a preview shows it. */
  const publishedAt = async (hours: number) => {
    const file = join(folder, `${hours}.db`);
    copyFileSync(join(folder, 'made.db'), file);
    const graph = openContentGraph(file);
    const registry = graph.registry();
    const environment = {
      graph: graph.reader,
      registry: () => registry,
      defaultLocale: 'en',
      strictRelations: true,
    };
    const range = { log, space: 'varve', position, until: NOW + hours * HOUR };
    await applyDueReleases(range, environment, (decided, at) => changeAhead(graph, decided, at));
    const rows = graph.reader.entries(type, documentId);
    graph.close();
    expect(rows.some(({ version }) => version === 'draft')).toBe(true);
    return rows.find((row) => row.version === 'published' && row.locale === locale)?.publishedAt;
  };
  // When the corpus published it, and not a release.
  expect(Date.parse((await publishedAt(0)) ?? '')).toBeLessThan(NOW);
  for (const hours of [1, 2]) expect(await publishedAt(hours)).toBeUndefined();
  for (const hours of [3, 9]) expect(await publishedAt(hours)).toBe(new Date(NOW + 3 * HOUR).toISOString());
  await log.close();
});

async function eventsOf(
  pages: AsyncIterable<readonly StoredEvent[]>,
  type: string,
): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  for await (const page of pages) found.push(...page.filter((event) => event.type === type));
  return found;
}
