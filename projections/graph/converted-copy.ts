import { randomInt, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import { modelOfDefinition, type TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { type ContentGraph, openContentGraph } from './content-graph.ts';
import { areOfOnePair, recordTouchedEntries, stopListing } from './late-entries.ts';

/**
 * A copy of a graph that is converted to other content types, ahead of the log. The copy gets each change of its graph until it replaces
 * the graph.
 */
export type ConvertedCopy = {
  /** The copy, under the other content types, at the graph's position of the last `catchUp`. */
  readonly graph: ContentGraph;
  /** Converts and takes over the graph's changes since the last call. Returns the change for a read index. */
  catchUp(): ChangeBatch;
  /** Replaces the graph, which has the same position and has not applied the new definitions yet. */
  replace(): void;
  /** Drops the copy. The graph stays as it is. */
  discard(): void;
};

/** Position of definitions that are not in the log yet: after all others. */
const AHEAD = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Copies a graph and converts the copy to these definitions. From then on the graph's file lists the entries that the copy lacks. Returns
 * false and makes no copy if the conversion of a row depends on later rows. No other process may write the graph meanwhile.
 */
export function convertCopy(
  { file, copy }: CopyFiles,
  graph: ContentGraph,
  definitions: readonly TypeDefinition[],
): boolean {
  graph.settle();
  stopListing(file);
  const changed = definitions.filter((each) => graph.definition(each.uid) !== JSON.stringify(each));
  // Components that come back get ids in the order of all rows.
  if (changed.length === 0 || graph.hasKept()) return false;
  if (!changed.every((now) => isRowByRow(graph.definition(now.uid), now))) return false;
  copyDatabase(file, copy);
  const converted = openContentGraph(copy, { building: true });
  try {
    const epoch = graph.epochAt(graph.position() + 1n);
    converted.replay(
      changed.map((data, at) => definedAhead(data, AHEAD - BigInt(changed.length - at), epoch)),
    );
    converted.settle();
  } finally {
    converted.close();
  }
  recordTouchedEntries(file, copy, randomInt(2 ** 47));
  return true;
}

/** The graph's file, and that of its converted copy. */
export type CopyFiles = { readonly file: string; readonly copy: string };

/** A switch of draft & publish gives new rows ids in the order of all rows. A switch of locales joins or splits whole documents. */
function isRowByRow(before: string | undefined, now: TypeDefinition): boolean {
  if (before === undefined) return true;
  const was = modelOfDefinition(JSON.parse(before)).model;
  const is = modelOfDefinition(now).model;
  return was.draftAndPublish === is.draftAndPublish && was.localized === is.localized;
}

function definedAhead(data: TypeDefinition, position: bigint, epoch: number): StoredEvent {
  const metadata = { schemaVersion: 1, at: new Date(0).toISOString(), epoch };
  return {
    id: randomUUID(),
    stream: data.uid,
    revision: 0n,
    position,
    type: 'content-type-defined',
    data,
    metadata,
  };
}

/** Opens the copy that was converted to these definitions; undefined if no copy fits the graph. */
export function openConvertedCopy(
  { file, copy }: CopyFiles,
  graph: ContentGraph,
  definitions: readonly TypeDefinition[],
): ConvertedCopy | undefined {
  const discard = () => {
    stopListing(file);
    removeDatabase(copy);
  };
  if (!existsSync(copy)) return undefined;
  if (existsSync(`${copy}-building`) || !areOfOnePair(file, copy)) {
    discard();
    return undefined;
  }
  const converted = openContentGraph(copy);
  let last = 0;
  if (!isOf(definitions, converted, graph)) {
    converted.close();
    discard();
    return undefined;
  }
  return {
    graph: {
      ...converted,
      position: graph.position,
      *readAll(batchSize) {
        const position = graph.position();
        for (const batch of converted.readAll(batchSize)) yield { ...batch, position };
      },
    },
    catchUp() {
      const { change, last: upTo } = converted.takeLate(file, last);
      last = upTo;
      return { ...change, position: graph.position() };
    },
    replace() {
      converted.close();
      graph.becomeConverted(copy);
      removeDatabase(copy);
    },
    discard() {
      converted.close();
      discard();
    },
  };
}

type Definitions = Pick<ContentGraph, 'definition' | 'registry'>;

/** Returns whether the copy has these definitions, which the graph does not have yet, and the graph's definitions of other types. */
function isOf(definitions: readonly TypeDefinition[], converted: Definitions, graph: Definitions): boolean {
  const own = new Map(definitions.map((each) => [each.uid, JSON.stringify(each)]));
  const isChanged = [...own].some(([uid, text]) => graph.definition(uid) !== text);
  const types = new Set([...own.keys(), ...graph.registry().contentTypes.keys()]);
  return (
    isChanged &&
    [...types].every((uid) => converted.definition(uid) === (own.get(uid) ?? graph.definition(uid)))
  );
}
