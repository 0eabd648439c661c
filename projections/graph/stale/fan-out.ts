import { valueAt } from '../../../shared/map-values.ts';
import type { Dependency } from '../../../shared/read-index/document-index.ts';
import { rememberLast } from '../../../shared/remembered.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { type LinkStep, linkStep, walkBack } from '../read/walk-back.ts';
import { type Effects, type LinkEffect, localesName } from '../store/change-log.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { entryOfKey, versionOfKey, type WorldNumber, worldsOf } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import type { ChangeSpan, StaleRows } from './stale-rows.ts';

/** Returns the dependencies of documents on other rows that they copy, for the content types in force. */
export type DependenciesOf = (registry: SchemaRegistry) => readonly Dependency[];

/** Maximum number of rows that embed a changed row for which the write waits. */
const PROMPT_ROWS = 1_000;

/** SQL by world that finds the rows whose documents show an entry. */
type Walk = readonly [draft: string, published: string];

type CompiledDependencies = {
  /** Documents that show a type's rows, by content type. */
  readonly ofRows: ReadonlyMap<Uid, readonly Walk[]>;
  /** Walks from a link's source and from its target to the documents that show the link. `null`: the document of that row itself. */
  readonly ofLinks: ReadonlyMap<
    string,
    { readonly source: Set<Walk | null>; readonly target: Set<Walk | null> }
  >;
};

/** Creates the fan-out of a graph. It compiles the walks again when content types change. */
export function createFanOut(db: GraphDatabase, stale: StaleRows, dependenciesOf: DependenciesOf) {
  const dependencies = rememberLast((schema: SchemaView) => compile(schema, dependenciesOf(schema.registry)));
  /** Marks a few rows one by one, so that the write waits for them. Marks many rows with one statement. */
  const markWalk = (walk: Walk, entry: number, world: WorldNumber, change: ChangeSpan): void => {
    const select = walk[world];
    const keys = db.all(`${select} LIMIT ${PROMPT_ROWS + 1}`, entry);
    if (keys.length > PROMPT_ROWS) stale.markSelected(select, entry, world, change);
    else for (const [key] of keys) stale.mark(world, key as number, 'copies', change);
  };
  return {
    /** Marks the documents that a batch of changes makes stale. */
    mark(schema: SchemaView, effects: Effects, change: ChangeSpan): void {
      const { ofRows, ofLinks } = dependencies(schema);
      const walked = new Set<string>();
      const walkOnce = (walk: Walk, entry: number, world: WorldNumber): void => {
        const name = `${world} ${entry} ${walk[world]}`;
        if (!walked.has(name)) markWalk(walk, entry, world, change);
        walked.add(name);
      };
      // A write does not wait for so many links. It always waits for the edited rows themselves.
      const urgency = effects.links.length > PROMPT_ROWS ? 'backlog' : 'copies';
      for (const link of effects.links) {
        for (const [row, walk] of shownBy(ofLinks, link)) {
          if (walk === null) stale.mark(link.world, row, urgency, change);
          else walkOnce(walk, entryOfKey(row), link.world);
        }
      }
      for (const { type, key } of effects.rows) {
        for (const world of worldsOf(versionOfKey(key))) {
          stale.mark(world, key, 'edited', change);
          for (const walk of ofRows.get(type) ?? []) walkOnce(walk, entryOfKey(key), world);
        }
      }
    },
  };
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
  const ofRows = new Map<Uid, Map<string, Walk>>();
  const ofLinks = new Map<string, { source: Set<Walk | null>; target: Set<Walk | null> }>();
  const walks = new Map<string, Walk>();
  const walkOf = (root: Uid, steps: readonly LinkStep[]): Walk | null => {
    if (steps.length === 0) return null;
    const walk: Walk = [walkBack(schema, root, steps, 0), walkBack(schema, root, steps, 1)];
    return valueAt(walks, walk.join(), () => walk);
  };
  for (const { type, path, keysOnly } of dependencies) {
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
    valueAt(ofRows, last.to, () => new Map()).set(walk.join(), walk);
  }
  return { ofRows: new Map([...ofRows].map(([type, found]) => [type, [...found.values()]])), ofLinks };
}
