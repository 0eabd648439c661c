import type { IndexRecord } from '../../shared/read-index/elasticsearch/indices/index-record.ts';
import { writeAlias } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import { readDefinitions, type WatchState } from './watch-state.ts';

/** Writes what the index of the progress contained, if somebody has removed or replaced that index. */
export async function restoreBase(state: WatchState): Promise<void> {
  const { cluster, contents, epoch, report } = state;
  const index = cluster.watched.progressIndex;
  const found = contents.get(index);
  if (found !== undefined && !(found.isOpen && found.isAssigned)) return;
  const name = found && `${found.uuid} ${found.histories}`;
  if (name !== undefined && name === (state.base ?? name)) {
    state.base = name;
    return;
  }
  report.error({ index }, 'the index of the progress was removed or replaced: it is written again');
  const refusal = await state.own();
  if (refusal !== undefined) throw new Error(refusal);
  if (!(await cluster.fence.raise(epoch, () => state.isNewest(epoch)))) return;
  state.announceAgain();
  state.base = undefined;
  state.isPublished = false;
  state.isRecorded = false;
}

/** Gives moved aliases back. An index with a fault is left alone. */
export async function returnAliases(state: WatchState): Promise<void> {
  const { cluster, written, definitions, faults, epoch, report } = state;
  const moved = [...written].filter(([alias, { index }]) => {
    const has = definitions.get(index)?.aliases;
    if (has === undefined || faults.some(({ type }) => type === cluster.watched.aliases.get(alias)))
      return false;
    const isElsewhere = [...definitions].some(
      ([other, { aliases }]) => other !== index && aliases.includes(alias),
    );
    return isElsewhere || !has.includes(alias) || !has.includes(writeAlias(index));
  });
  if (moved.length === 0) return;
  report.error({ aliases: moved.map(([alias]) => alias) }, 'aliases were moved: they are moved back');
  await cluster.watched.restoreAliases(
    Object.fromEntries(moved.map(([alias, { index }]) => [alias, index])),
    epoch,
  );
  await readDefinitions(state);
}

/** Publishes the faults for other processes, and records the indices for the next leader. */
export async function publishFaults(state: WatchState): Promise<void> {
  const { cluster, faults, log } = state;
  if (!state.isPublished) await cluster.watched.published.write(faults);
  state.isPublished = true;
  if (state.isRecorded) return;
  // A leader after this one must not trust the lost indices either.
  await cluster.watched.record(log).write(recordOfWritten(state));
  state.isRecorded = true;
}

function recordOfWritten({ cluster, written, lost }: WatchState): IndexRecord {
  const record: Record<string, IndexRecord[string]> = {};
  for (const [alias, { index, uuid, histories }] of written) {
    if (lost.has(cluster.watched.aliases.get(alias) ?? '')) record[alias] = null;
    else if (uuid !== undefined && histories !== undefined) record[alias] = { index, uuid, histories };
  }
  return record;
}
