import { valueAt } from '../../shared/map-values.ts';
import { type IndexFault, isLost } from '../../shared/read-index/index-fault.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { type Finding, findFault, type WrittenIndex } from './find-fault.ts';
import { lose, type WatchState } from './watch-state.ts';

/** Compares what was observed with what was written. From now on, reads of types with a fault are refused in this process. */
export function noteFaults(state: WatchState): void {
  const { cluster, written, contents, definitions, lost } = state;
  const passing = new Map<Uid, IndexFault>();
  for (const [alias, each] of written) {
    const type = cluster.watched.aliases.get(alias);
    if (type === undefined) continue;
    const { index } = each;
    const found = findFault(each, { content: contents.get(index), definition: definitions.get(index) });
    if (found === undefined) learn(state, alias, each);
    else if (isLost(found)) lose(state, type, found);
    else if (!passing.has(type)) passing.set(type, faultOf(state, type, found));
  }
  for (const fault of catchingUp(state, passing)) passing.set(fault.type, fault);
  reportFaults(state, [...lost.values(), ...[...passing.values()].filter(({ type }) => !lost.has(type))]);
}

/** Returns the faults that have ended, as long as documents that waited meanwhile are not written. */
function catchingUp(state: WatchState, passing: ReadonlyMap<Uid, IndexFault>): readonly IndexFault[] {
  const { faults, lost, behind, counted } = state;
  const ended = faults.filter(
    ({ type, refusesReads }) => refusesReads && !lost.has(type) && !passing.has(type),
  );
  for (const type of new Set([...behind.keys(), ...counted])) {
    if (ended.some((each) => each.type === type)) continue;
    behind.delete(type);
    counted.delete(type);
  }
  return ended.filter((fault) => isCatchingUp(state, fault));
}

/**
 * Returns whether searches lack changes of a type that positions have counted as shown. First the documents that waited are written. Then
 * positions count the type again, and everything up to that position is written. Only then may a read show the type.
 */
function isCatchingUp(state: WatchState, { type, kind }: IndexFault): boolean {
  const { behind, counted, stale, graph } = state;
  const isWritten = () => !stale.isBehind(type, valueAt(behind, type, graph.position));
  if (!counted.has(type)) {
    // The documents of a type that was lost are complete.
    if (!isLost({ kind }) && !isWritten()) return true;
    counted.add(type);
    behind.delete(type);
    stale.disregard(stale.disregarded().filter((other) => other !== type));
  }
  return !isWritten();
}

/** Completes the identity of an index that did not answer when the watch began. */
function learn(state: WatchState, alias: string, known: WrittenIndex): void {
  if (known.uuid !== undefined && known.histories !== undefined) return;
  const { uuid, histories } = state.contents.get(known.index) ?? {};
  state.written.set(alias, { ...known, uuid, histories });
  state.isRecorded = false;
}

function reportFaults(state: WatchState, faults: readonly IndexFault[]): void {
  const { cluster, report, faults: before } = state;
  // Before it was the leader, this process read the faults of another leader. They may have ended.
  cluster.watched.faults.replace(faults);
  if (namesOf(faults) === namesOf(before)) return;
  for (const { type, kind, reason } of faults) {
    const isNew = before.every((each) => each.type !== type || each.kind !== kind);
    if (isNew) report.error({ type, reason }, 'an index has changed behind Varve');
  }
  for (const { type } of before) {
    if (faults.every((each) => each.type !== type)) report.warn({ type }, 'the index can be used again');
  }
  state.faults = faults;
  state.isPublished = false;
}

/** Returns a fault that ends without Varve. It keeps the time of its discovery. */
function faultOf({ faults, stale, graph }: WatchState, type: Uid, finding: Finding): IndexFault {
  const { kind, reason } = finding;
  const refusesReads = finding.refusesReads || stale.isBehind(type, graph.position());
  const known = faults.find((each) => each.type === type && each.kind === kind);
  const since = known?.since ?? new Date().toISOString();
  return { type, kind, reason, since, refusesReads };
}

function namesOf(faults: readonly IndexFault[]): string {
  return faults.map(({ type, reason, refusesReads }) => [type, reason, refusesReads].join(' ')).join('\n');
}
