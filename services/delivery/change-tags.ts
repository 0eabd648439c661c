import { DOCUMENT_PUBLISHED_FIELD, PUBLICATION_STATE_FIELD } from '../../shared/read-index/bool-query.ts';
import {
  type ChangeBatch,
  type LinkChange,
  type RowChange,
  type RowSpace,
  WORLDS,
  type World,
} from '../../shared/read-index/read-index.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { isOrderValue, narrowingFields, narrows, orderedFields } from './narrowing.ts';
import { readSource, type SourceValues } from './read-source.ts';
import { attributeTag, documentTag, inverseTag, narrowTag, ROWS, type Tag, tieTag, wordsTag } from './tag.ts';

/** The content before a batch. */
export type Before = {
  readonly registry: SchemaRegistry;
  /** Source of the content type's row with this key, or that the component with this key is in. */
  sourceAt(space: RowSpace, world: World, key: number): Uint8Array | undefined;
  /** Component attributes that a change of an existing row changes. */
  changedComponents(change: RowChange): readonly string[];
};

/** Returns the tags of everything that a batch changes, before the batch is applied. */
export function tagsOfBatch(before: Before, batch: ChangeBatch): ReadonlySet<Tag> {
  const tags = new Set<Tag>();
  const rows = new Map<string, SourceValues>();
  for (const change of batch.rows) {
    const changed = changedRow(before, change);
    if (changed === undefined) continue;
    if (changed.now !== undefined) rows.set(rowName(change.type, changed.worlds[0], change.key), changed.now);
    addRowTags(tags, changed);
  }
  const valuesAt = (space: RowSpace, world: World, key: number) => {
    const values: SourceValues[] = [];
    const source = before.sourceAt(space, world, key);
    if (source !== undefined) values.push(readSource(source));
    const now = space.path.length === 0 ? rowIn(rows, space.type, world, key) : undefined;
    if (now !== undefined) values.push(now);
    return values;
  };
  for (const link of batch.links) addLinkTags(tags, before.registry, link, valuesAt);
  return tags;
}

type ChangedRow = {
  readonly type: ContentType;
  readonly worlds: readonly World[];
  readonly was: SourceValues | undefined;
  readonly now: SourceValues | undefined;
  readonly components: readonly string[];
};

function changedRow(
  { registry, sourceAt, changedComponents }: Before,
  change: RowChange,
): ChangedRow | undefined {
  const worlds = change.version === 'live' ? WORLDS : [change.version];
  const source = sourceAt({ type: change.type, path: [] }, worlds[0] as World, change.key);
  if (source === undefined && change.row === null) return undefined;
  return {
    type: contentTypeOf(registry, change.type),
    worlds,
    was: source && readSource(source),
    now: change.row === null ? undefined : readSource(change.row.source),
    components: changedComponents(change),
  };
}

function addRowTags(tags: Set<Tag>, { type, worlds, was, now, components }: ChangedRow): void {
  const { uid } = type;
  const isSame = was !== undefined && now !== undefined;
  const shown = isSame ? [...differingNames(was, now), ...components] : [ROWS];
  // The state of a publication is in no source: it counts as changed whenever the row is written.
  const changed = isSame ? [...shown, ...PUBLICATION_FIELDS] : shown;
  const equalities = equalitiesOf(type, [was, now]);
  // A row whose value changes leaves the rows that have the old one, and joins those that have the new one.
  const moved = isSame ? equalities.filter(({ field }) => changed.includes(field)) : [];
  if (shown.length > 0) tags.add(wordsTag(uid));
  for (const world of worlds) {
    if (shown.length > 0) tags.add(documentTag(uid, world, String((was ?? now)?.['documentId'])));
    for (const attribute of changed) {
      tags.add(attributeTag(uid, world, attribute));
      for (const equality of equalities) tags.add(narrowTag(uid, world, equality, attribute));
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

type FieldValue = { readonly field: string; readonly value: unknown };

function equalitiesOf(type: ContentType, rows: readonly (SourceValues | undefined)[]): readonly FieldValue[] {
  const values = new Map<string, FieldValue>();
  for (const field of narrowingFields(type)) {
    for (const row of rows) {
      const value = row?.[field];
      if (narrows(value)) values.set(`${field} ${String(value)}`, { field, value });
    }
  }
  return [...values.values()];
}

type ValuesAt = (space: RowSpace, world: World, key: number) => readonly SourceValues[];

function addLinkTags(
  tags: Set<Tag>,
  registry: SchemaRegistry,
  { space, attribute, world, source, target }: LinkChange,
  valuesAt: ValuesAt,
): void {
  const owner = contentTypeOf(registry, space.type);
  const relation = { type: owner.uid, attribute: space.path[0]?.attribute ?? attribute };
  tags.add(attributeTag(owner.uid, world, relation.attribute));
  const sources = valuesAt(space, world, source);
  for (const { documentId } of sources) tags.add(documentTag(owner.uid, world, String(documentId)));
  for (const equality of equalitiesOf(owner, sources))
    tags.add(narrowTag(owner.uid, world, equality, relation.attribute));
  const far = targetOf(owner, space, attribute);
  if (far === undefined) return;
  for (const { documentId } of valuesAt({ type: far, path: [] }, world, target))
    tags.add(inverseTag(far, world, String(documentId), relation));
}

/** Relations of components have no inverse side. */
function targetOf({ attributes }: ContentType, { path }: RowSpace, name: string): Uid | undefined {
  const attribute = path.length === 0 ? attributes.get(name) : undefined;
  return attribute?.kind === 'relation' ? attribute.target : undefined;
}

function rowName(type: Uid, world: World | undefined, key: number): string {
  return `${type} ${world} ${key}`;
}

/** Rows of types without draft & publish are the same in both worlds. */
function rowIn(
  rows: ReadonlyMap<string, SourceValues>,
  type: Uid,
  world: World,
  key: number,
): SourceValues | undefined {
  return rows.get(rowName(type, world, key)) ?? rows.get(rowName(type, WORLDS[0], key));
}
