import { type ReadIndex, worldsOfType } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Sample } from './metrics.ts';

/** Counts the rows that an index shows, by content type and world. */
export function countShownRows(
  index: ReadIndex,
  { contentTypes }: SchemaRegistry,
): Promise<readonly Sample[]> {
  const counted = [...contentTypes.values()].flatMap(({ uid: type, draftAndPublish }) =>
    worldsOfType(draftAndPublish).map(async (world) => {
      const everything = { query: { kind: 'match_all' }, sort: [], from: 0, size: 0 } as const;
      const { total = 0 } = await index.search({ type, world, ...everything, withTotal: true });
      return { labels: { type, world }, value: total };
    }),
  );
  return Promise.all(counted);
}
