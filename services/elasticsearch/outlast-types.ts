import { setTimeout as delay } from 'node:timers/promises';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { OtherSetIsLive } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { Report } from './report.ts';

const LOOK_EVERY_MS = 250;

/**
 * When the content types have been changed under a process that reads, its indices serve on until those for the new ones are live:
 * it reads them to their end. Rejects with what `changed` rejected with, then. Resolves with `changed`.
 */
export async function outlastTypes(
  changed: Promise<void>,
  { indices }: Pick<ElasticsearchCluster, 'indices'>,
  report: Report,
): Promise<void> {
  try {
    await changed;
  } catch (error) {
    await indices.hold();
    report.warn(
      { reason: (error as Error).message },
      'content types changed: reads go on as before until the new read model is there',
    );
    await untilOtherIsLive(indices);
    throw error;
  }
}

async function untilOtherIsLive(indices: ElasticsearchCluster['indices']): Promise<void> {
  for (;;) {
    try {
      await indices.refresh();
    } catch (error) {
      // A cluster that is away just then has no other either.
      if (error instanceof OtherSetIsLive) return;
    }
    await delay(LOOK_EVERY_MS, undefined, { ref: false });
  }
}
