import { valueAt } from '../../../shared/map-values.ts';
import type { Dependency } from '../../../shared/read-index/document-index.ts';
import { WORLDS } from '../../../shared/read-index/read-index.ts';
import { rememberLast } from '../../../shared/remembered.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { type LinkStep, linkStep, walkBack } from '../read/walk-back.ts';
import { type Effects, type LinkEffect, localesName, type RowEffect } from '../store/change-log.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { entryOfKey, versionOfKey, type WorldNumber, worldsOf } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import type { AwaitedDocuments } from './awaited-documents.ts';
import { type ChangeSpan, type Lane, type StaleRows, staleNumberIn } from './stale-rows.ts';

/** Returns the dependencies of documents on other rows that they copy, for the content types in force. */
export type DependenciesOf = (registry: SchemaRegistry) => readonly Dependency[];

/**
 * Maximum number of rows that copy a changed row in one way, and that copy the changed rows of a batch in all ways, for which writes wait.
 * An edit with few copies waits behind those of others, so a larger number makes all edits slow.
 */
const AWAITED_COPIES = 100;
const AWAITED_IN_ALL = 1_000;
/**
 * While writes wait for this many copies, a further write does not wait for its own. Edits may make more copies than the index accepts. Then
 * the queue would grow, and each edit would wait for all copies before its own.
 */
const AWAITED_AT_ONCE = 60;
/** Maximum number of changed links, besides those of edited rows, for whose rows the write waits: two for a row in both worlds. */
const AWAITED_LINKS = 2 * AWAITED_COPIES;

/** SQL by world that finds the rows whose documents show an entry. */
type Walk = readonly [draft: string, published: string];

/** Walk to documents that show the columns and component attributes `shows` of a row. */
type RowWalk = { readonly walk: Walk; readonly shows: Set<string> };

type CompiledDependencies = {
  /** Documents that show a type's rows, by content type. */
  readonly ofRows: ReadonlyMap<Uid, readonly RowWalk[]>;
  /** Walks from a link's source and from its target to the documents that show the link. `null`: the document of that row itself. */
  readonly ofLinks: ReadonlyMap<
    string,
    { readonly source: Set<Walk | null>; readonly target: Set<Walk | null> }
  >;
};

/** SQL that finds the rows of a JSON list. */
const ROWS = 'SELECT value AS key FROM json_each(?)';

/** Entries from which a walk leads to documents that show them. With ROWS they are rows, whose own documents show the change. */
type Reached = { readonly select: string; readonly world: WorldNumber; readonly from: Set<number> };

/** Receivers of the documents that a change makes stale. */
type Marks = { readonly stale: StaleRows; readonly awaited: AwaitedDocuments };

/** Creates the fan-out of a graph. It compiles the walks again when content types change. */
export function createFanOut(db: GraphDatabase, { stale, awaited }: Marks, dependenciesOf: DependenciesOf) {
  const mark = (world: WorldNumber, key: number, lane: Lane, change: ChangeSpan): void => {
    stale.mark(world, key, lane, change);
    if (lane !== 'backlog') awaited.mark(staleNumberIn(world, key), change);
  };
  const dependencies = rememberLast((schema: SchemaView) => compile(schema, dependenciesOf(schema.registry)));
  /** Marks the documents behind a walk, so that the write waits for at most `left` of them. Returns for how many it waits. */
  const markFew = ({ select, world, from }: Reached, left: number, change: ChangeSpan): number => {
    const many: number[] = [];
    let found = 0;
    for (const each of from) {
      const limit = Math.min(left - found, AWAITED_COPIES);
      const keys = limit === 0 ? [] : db.all(`${select} LIMIT ${limit + 1}`, JSON.stringify([each]));
      if (limit === 0 || keys.length > limit) {
        many.push(each);
        continue;
      }
      for (const [key] of keys) mark(world, key as number, 'copies', change);
      found += keys.length;
    }
    if (many.length > 0) stale.markSelected(select, many, world, change);
    return found;
  };
  return {
    /** Marks the documents that a batch of changes makes stale. */
    mark(schema: SchemaView, effects: Effects, change: ChangeSpan): void {
      const known = dependencies(schema);
      awaited.begin(change);
      const edited = new Set<number>();
      for (const { key } of effects.rows) {
        edited.add(key);
        for (const world of worldsOf(versionOfKey(key))) mark(world, key, 'edits', change);
      }
      // A write does not wait for so many rows. It always waits for the edited rows themselves.
      const areMany = effects.links.filter(({ sourceRow }) => !edited.has(sourceRow)).length > AWAITED_LINKS;
      const areBehind = stale.waiting('copies', AWAITED_AT_ONCE) === AWAITED_AT_ONCE;
      let left = areBehind ? 0 : AWAITED_IN_ALL;
      for (const reached of reachedBy(known, effects)) {
        const { select, world, from } = reached;
        // One statement for all of them: a deleted entry may have tens of thousands of links.
        if (areMany) stale.markSelected(select, from, world, change);
        else if (select === ROWS) for (const key of from) mark(world, key, 'copies', change);
        else left -= markFew(reached, left, change);
      }
    },
  };
}

/** Returns the ways from changed rows and links to documents that show them, each way once. */
function reachedBy({ ofRows, ofLinks }: CompiledDependencies, effects: Effects): readonly Reached[] {
  const ways = WORLDS.map(() => new Map<string, Reached>());
  const add = (world: WorldNumber, select: string, from: number): void => {
    const inWorld = ways[world] as Map<string, Reached>;
    valueAt(inWorld, select, () => ({ select, world, from: new Set() })).from.add(from);
  };
  for (const link of effects.links) {
    const { world } = link;
    for (const [row, walk] of shownBy(ofLinks, link)) {
      if (walk === null) add(world, ROWS, row);
      else add(world, walk[world], entryOfKey(row));
    }
  }
  for (const { type, key, changed } of effects.rows) {
    const walks = shownWalks(ofRows.get(type) ?? [], changed);
    for (const world of worldsOf(versionOfKey(key))) {
      for (const { walk } of walks) add(world, walk[world], entryOfKey(key));
    }
  }
  return ways.flatMap((inWorld) => [...inWorld.values()]);
}

/** Returns the walks to documents that show one of the changed columns; all of them if the columns are not known. */
function shownWalks(walks: readonly RowWalk[], changed: RowEffect['changed']): readonly RowWalk[] {
  return changed === undefined ? walks : walks.filter(({ shows }) => !changed.isDisjointFrom(shows));
}

/** Yields the rows that show the link. The source always shows it. */
function* shownBy(
  ofLinks: CompiledDependencies['ofLinks'],
  { relation, sourceRow, targetRow }: LinkEffect,
): Generator<readonly [row: number, walk: Walk | null]> {
  const known = ofLinks.get(relation);
  yield [sourceRow, null];
  for (const walk of known?.source ?? []) if (walk !== null) yield [sourceRow, walk];
  for (const walk of known?.target ?? []) yield [targetRow, walk];
}

function compile(schema: SchemaView, dependencies: readonly Dependency[]): CompiledDependencies {
  const ofRows = new Map<Uid, Map<string, RowWalk>>();
  const ofLinks = new Map<string, { source: Set<Walk | null>; target: Set<Walk | null> }>();
  const walks = new Map<string, Walk>();
  const walkOf = (root: Uid, steps: readonly LinkStep[]): Walk | null => {
    if (steps.length === 0) return null;
    const walk: Walk = [walkBack(schema, root, steps, 0), walkBack(schema, root, steps, 1)];
    return valueAt(walks, walk.join(), () => walk);
  };
  for (const { type, path, keysOnly, shows } of dependencies) {
    const steps = path.map((hop) => linkStep(schema, hop));
    for (const [at, step] of steps.entries()) {
      const name = step.kind === 'locales' ? localesName(step.to) : String(step.relation.id);
      const links = valueAt(ofLinks, name, () => ({ source: new Set(), target: new Set() }));
      const walk = walkOf(type, steps.slice(0, at));
      (step.kind === 'against' ? links.target : links.source).add(walk);
    }
    const last = steps.at(-1);
    const walk = walkOf(type, steps);
    if (keysOnly || last === undefined || walk === null) continue;
    const ofType = valueAt(ofRows, last.to, () => new Map<string, RowWalk>());
    const known = valueAt(ofType, walk.join(), () => ({ walk, shows: new Set<string>() }));
    for (const name of shows) known.shows.add(name);
  }
  return { ofRows: new Map([...ofRows].map(([type, found]) => [type, [...found.values()]])), ofLinks };
}
