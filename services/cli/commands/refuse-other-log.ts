import { join } from 'node:path';
import type { ContentGraph } from '../../../projections/graph/content-graph.ts';
import { checkHistory } from '../../../projections/graph/store/check-history.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { presentLogOfDirectory, readLogOfDirectory } from '../../stores/log-of-directory.ts';
import type { OperatorSettings } from '../settings/settings.ts';

/** Rejects with a message if a graph was not made from the log that the settings name. */
export async function refuseOtherLog(
  { data, space, eventStore }: OperatorSettings,
  log: EventStore,
  graph: Pick<ContentGraph, 'position' | 'lastEvent'>,
): Promise<void> {
  const history = await checkHistory(log, {
    position: graph.position(),
    last: graph.lastEvent(),
    samples: [],
  });
  if (history.kind === 'same') return;
  const known = readLogOfDirectory(data);
  const made = known === undefined ? 'another log' : `the log ${presentLogOfDirectory(data, known)}`;
  const named = presentLogOfDirectory(data, { eventStore, space });
  const found =
    history.kind === 'other'
      ? 'has another event there'
      : history.end === 0n
        ? 'has no events of this namespace'
        : `ends at position ${history.end}`;
  throw new Error(
    `${join(data, 'graph.db')} was made from ${made} up to position ${graph.position()}, and the log ${named} ${found}: pass --data of a server of that log, or the --event-store and --space of the server of ${data}`,
  );
}
