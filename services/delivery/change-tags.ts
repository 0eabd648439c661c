import { DOCUMENT_PUBLISHED_FIELD, PUBLICATION_STATE_FIELD } from '../../shared/read-index/bool-query.ts';
import {
  type ChangeBatch,
  type LinkChange,
  type LocalRows,
  type RowChange,
  type RowSet,
  WORLDS,
  type World,
} from '../../shared/read-index/read-index.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { createLinkedValues, type LinkedValues, targetValues, type ValuesAt } from './linked-values.ts';
import {
  isOrderValue,
  narrowingFields,
  narrowingRelations,
  narrows,
  orderedFields,
  relationsNarrowedBy,
} from './narrowing.ts';
import { readSource, type SourceValues } from './read-source.ts';
import {
  attributeTag,
  documentTag,
  type Equality,
  inverseTag,
  narrowTag,
  ROWS,
  type Tag,
  tieTag,
  wordsTag,
} from './tag.ts';

/** The content before a batch. */
export type EarlierContent = Pick<LocalRows, 'sourceAt' | 'linkedAt' | 'changedComponents'> & {
  readonly registry: SchemaRegistry;
};

/** Returns the tags of everything that a batch changes, before the batch is applied. */
export function tagsOfBatch(before: EarlierContent, batch: ChangeBatch): ReadonlySet<Tag> {
  const tags = new Set<Tag>();
  const rows = new Map<string, SourceValues>();
  const changedRows: ChangedRow[] = [];
  for (const change of batch.rows) {
    const changed = changedRow(before, change);
    if (changed === undefined) continue;
    if (changed.now !== undefined) rows.set(rowName(change.type, changed.worlds[0], change.key), changed.now);
    changedRows.push(changed);
  }
  const valuesAt = (rowSet: RowSet, world: World, key: number) => {
    const values: SourceValues[] = [];
    const source = before.sourceAt(rowSet, world, key);
    if (source !== undefined) values.push(readSource(source));
    const now = rowSet.path.length === 0 ? rowIn(rows, rowSet.type, world, key) : undefined;
    if (now !== undefined) values.push(now);
    return values;
  };
  const { registry } = before;
  const linkedValues = createLinkedValues(before, batch, valuesAt);
  for (const changed of changedRows) {
    addRowTags(tags, changed, linkedValues);
    addTargetTags(tags, registry, changed);
  }
  for (const link of batch.links) addLinkTags(tags, registry, link, { valuesAt, linkedValues });
  return tags;
}

type ChangedRow = {
  readonly type: ContentType;
  readonly key: number;
  readonly worlds: readonly World[];
  readonly was: SourceValues | undefined;
  readonly now: SourceValues | undefined;
  readonly components: readonly string[];
};

function changedRow(
  { registry, sourceAt, changedComponents }: EarlierContent,
  change: RowChange,
): ChangedRow | undefined {
  const worlds = change.version === 'live' ? WORLDS : [change.version];
  const source = sourceAt({ type: change.type, path: [] }, worlds[0] as World, change.key);
  if (source === undefined && change.row === null) return undefined;
  return {
    type: contentTypeOf(registry, change.type),
    key: change.key,
    worlds,
    was: source && readSource(source),
    now: change.row === null ? undefined : readSource(change.row.source),
    components: changedComponents(change),
  };
}

function addRowTags(
  tags: Set<Tag>,
  { type, key, worlds, was, now, components }: ChangedRow,
  linkedValues: LinkedValues,
): void {
  const { uid } = type;
  const isSame = was !== undefined && now !== undefined;
  const shown = isSame ? [...differingNames(was, now), ...components] : [ROWS];
  // No source has the publication state, so each write of the row counts as a change of it.
  const changed = isSame ? [...shown, ...PUBLICATION_FIELDS] : shown;
  const equalities = equalitiesOf(type, [was, now]);
  // A row whose value changes leaves the lists of the old value, and joins the lists of the new value.
  const moved = isSame ? equalities.filter(({ field }) => changed.includes(field)) : [];
  if (shown.length > 0) tags.add(wordsTag(uid));
  for (const world of worlds) {
    if (shown.length > 0) tags.add(documentTag(uid, world, String((was ?? now)?.['documentId'])));
    const all = [...equalities, ...linkedValues(type, { type: uid, path: [] }, world, key)];
    for (const attribute of changed) {
      tags.add(attributeTag(uid, world, attribute));
      for (const equality of all) tags.add(narrowTag(uid, world, equality, attribute));
    }
    for (const equality of moved) tags.add(narrowTag(uid, world, equality, ROWS));
    if (now !== undefined && changed.includes('id')) addTies(tags, type, world, now);
  }
}

function addTies(tags: Set<Tag>, type: ContentType, world: World, now: SourceValues): void {
  for (const field of orderedFields(type)) {
    const value = now[field];
    if (isOrderValue(value)) tags.add(tieTag(type.uid, world, { field, value }));
  }
}

const PUBLICATION_FIELDS = [PUBLICATION_STATE_FIELD, DOCUMENT_PUBLISHED_FIELD];

function differingNames(was: SourceValues, now: SourceValues): readonly string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(now[name]));
}

/**
 * Adds the tags of lists that are narrowed by a value of a linked row. If the linked row is removed, or its value changes, rows that link
 * to it move from one such list to another. New links are separate changes.
 */
function addTargetTags(
  tags: Set<Tag>,
  registry: SchemaRegistry,
  { type, worlds, was, now }: ChangedRow,
): void {
  if (was === undefined) return;
  for (const relation of relationsNarrowedBy(registry, type)) {
    const { owner } = relation;
    const before = targetValues(relation, [was]);
    const after = now === undefined ? [] : targetValues(relation, [now]);
    const isIn = (list: readonly Equality[], one: Equality) =>
      list.some(({ field, value }) => field === one.field && value === one.value);
    const moved = [
      ...before.filter((one) => !isIn(after, one)),
      ...after.filter((one) => !isIn(before, one)),
    ];
    for (const world of worlds)
      for (const equality of moved) tags.add(narrowTag(owner, world, equality, ROWS));
  }
}

function equalitiesOf(type: ContentType, rows: readonly (SourceValues | undefined)[]): readonly Equality[] {
  const values = new Map<string, Equality>();
  for (const field of narrowingFields(type)) {
    for (const row of rows) {
      const value = row?.[field];
      if (narrows(value)) values.set(`${field} ${String(value)}`, { field, value });
    }
  }
  return [...values.values()];
}

function addLinkTags(
  tags: Set<Tag>,
  registry: SchemaRegistry,
  { rowSet, attribute, world, source, target }: LinkChange,
  { valuesAt, linkedValues }: { readonly valuesAt: ValuesAt; readonly linkedValues: LinkedValues },
): void {
  const owner = contentTypeOf(registry, rowSet.type);
  const relation = { type: owner.uid, attribute: rowSet.path[0]?.attribute ?? attribute };
  tags.add(attributeTag(owner.uid, world, relation.attribute));
  const sources = valuesAt(rowSet, world, source);
  for (const { documentId } of sources) tags.add(documentTag(owner.uid, world, String(documentId)));
  const equalities = [...equalitiesOf(owner, sources), ...linkedValues(owner, rowSet, world, source)];
  for (const equality of equalities) tags.add(narrowTag(owner.uid, world, equality, relation.attribute));
  const far = targetOf(owner, rowSet, attribute);
  if (far === undefined) return;
  const targets = valuesAt({ type: far, path: [] }, world, target);
  for (const { documentId } of targets) tags.add(inverseTag(far, world, String(documentId), relation));
  // Relations of components narrow no lists, and a component's link adds no row to a list.
  const narrowing = narrowingRelations(registry, owner).find((one) => one.attribute === attribute);
  if (narrowing === undefined) return;
  for (const equality of targetValues(narrowing, targets))
    tags.add(narrowTag(owner.uid, world, equality, ROWS));
}

/** Returns the target of a relation; undefined for relations of components, which have no inverse side. */
function targetOf({ attributes }: ContentType, { path }: RowSet, name: string): Uid | undefined {
  const attribute = path.length === 0 ? attributes.get(name) : undefined;
  return attribute?.kind === 'relation' ? attribute.target : undefined;
}

function rowName(type: Uid, world: World | undefined, key: number): string {
  return `${type} ${world} ${key}`;
}

/** Returns a changed row. Rows of types without draft & publish are the same in both worlds, and listed once. */
function rowIn(
  rows: ReadonlyMap<string, SourceValues>,
  type: Uid,
  world: World,
  key: number,
): SourceValues | undefined {
  return rows.get(rowName(type, world, key)) ?? rows.get(rowName(type, WORLDS[0], key));
}
