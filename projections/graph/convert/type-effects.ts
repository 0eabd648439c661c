import { valueAt } from '../../../shared/map-values.ts';
import type { ContentType, Uid } from '../../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { modelOfDefinition, type TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { publicationStateAt } from '../store/graph-entry.ts';
import { relationName } from '../store/graph-relation.ts';
import { ROW_COLUMNS } from '../store/graph-row.ts';
import { isWholeRow, ROW_WITHOUT_DRAFTS, ROW_WITHOUT_LOCALES } from '../store/kept-values.ts';
import type { Values } from '../store/present-row.ts';
import { entryOfKey } from '../store/row-keys.ts';
import { changeOf } from './change-of.ts';
import type { Redefinition } from './convert-entry.ts';
import { componentChange, convertValues, type ModelChange, type ValueNote } from './convert-values.ts';
import { isSameModel } from './definitions.ts';
import { type LostRelation, lostRelations } from './lost-relations.ts';
import { weightOf } from './weight-of.ts';

/** Effect of other definitions on the values of an attribute. */
export type TypeEffect = {
  /** `<model>.<attribute>`, such as `api::article.article.summary` or `shared.seo.title`. */
  readonly name: string;
  /** Uid of the content type or component. */
  readonly model: Uid;
  /** Attribute; `locale` if the type would have no locales, `publishedAt` if it would have no drafts. */
  readonly attribute: string;
  readonly outcome: ValueNote['outcome'] | 'restored';
  /** Number of entries, each a document in one locale, with such values. */
  readonly entries: number;
};

/** Reads rows of a graph's file, each as a list of its columns. */
export type ReadRows = (sql: string, ...values: readonly (string | number)[]) => Iterable<readonly unknown[]>;

const DEFINITION = 'SELECT data FROM definitions WHERE uid = ?';
const ROWS = `SELECT ${ROW_COLUMNS} FROM rows WHERE type = (SELECT id FROM names WHERE name = ?)`;
const SOURCES = 'SELECT DISTINCT source FROM links WHERE relation = (SELECT id FROM names WHERE name = ?)';
const TARGETS = 'SELECT DISTINCT target FROM links WHERE relation = (SELECT id FROM names WHERE name = ?)';
/** Locale, positions of the draft and the published row, and of shared values, of each entry with rows. */
const ENTRIES = `SELECT id, locale, shared_edited, shared_published,
    (SELECT position FROM rows WHERE key = id * 4), (SELECT position FROM rows WHERE key = id * 4 + 1)
  FROM entries WHERE type = (SELECT id FROM names WHERE name = ?)
  AND EXISTS (SELECT 1 FROM rows WHERE key BETWEEN id * 4 AND id * 4 + 2)`;

const KEPT = `SELECT entry, owner, attribute, kept_definitions.data, kept_values.data
  FROM kept_values JOIN kept_definitions ON kept_definitions.id = definition
  WHERE entry IN (SELECT id FROM entries WHERE type = (SELECT id FROM names WHERE name = ?))`;
const KEPT_LINKS = `SELECT DISTINCT source FROM kept_links JOIN entries ON entries.id = target
  WHERE relation = (SELECT id FROM names WHERE name = ?) AND type = (SELECT id FROM names WHERE name = ?)`;

/**
 * Returns what these definitions would do to the values in a graph, in the order of names. It reads all rows of each type whose definition
 * differs, and changes nothing. A type that is in no definition stays as it is.
 */
export function typeEffects(read: ReadRows, definitions: readonly TypeDefinition[]): readonly TypeEffect[] {
  const found = createEffects();
  const relations: LostRelation[] = [];
  for (const now of definitions) {
    const [text] = [...read(DEFINITION, now.uid)][0] ?? [];
    if (text === undefined) continue;
    const before = JSON.parse(String(text)) as TypeDefinition;
    if (isSameModel(before, now)) continue;
    const change = changeOf(before, now);
    addValues(read, change, found);
    addLostRows(read, now, change, found);
    relations.push(...lostRelations(now.uid, change));
    addRestored(read, { before, now }, change, found);
  }
  addLostLinks(read, relations, found);
  return found.list();
}

type Effects = ReturnType<typeof createEffects>;

function createEffects() {
  const found = new Map<string, Pick<TypeEffect, 'model' | 'attribute' | 'outcome'> & { ids: Set<number> }>();
  return {
    add({ model, attribute, outcome }: Omit<TypeEffect, 'name' | 'entries'>, entry: number): void {
      const key = `${model}.${attribute} ${outcome}`;
      valueAt(found, key, () => ({ model, attribute, outcome, ids: new Set<number>() })).ids.add(entry);
    },
    list: (): readonly TypeEffect[] =>
      [...found]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { ids, model, attribute, outcome }]) => ({
          name: `${model}.${attribute}`,
          model,
          attribute,
          outcome,
          entries: ids.size,
        })),
  };
}

function addValues(read: ReadRows, change: ModelChange, found: Effects): void {
  for (const [key, , , source, hidden, components] of read(ROWS, change.now.model.uid)) {
    const parts = [source, hidden, components].filter((part) => part !== null);
    const values = Object.assign({}, ...parts.map((part) => JSON.parse(String(part)))) as Values;
    convertValues(change, values, (note) => found.add(note, entryOfKey(key as number)));
  }
}

/** Adds entries whose links are lost. If the owner of a relation loses them, the other end is not named too. */
function addLostLinks(read: ReadRows, relations: readonly LostRelation[], found: Effects): void {
  const owned = new Set(relations.flatMap(({ relation, end }) => (end === 'source' ? [relation] : [])));
  for (const { relation, end, model, attribute } of relations) {
    if (end === 'target' && owned.has(relation)) continue;
    for (const [id] of read(end === 'source' ? SOURCES : TARGETS, relation))
      found.add({ model, attribute, outcome: 'lost' }, id as number);
  }
}

/** Adds entries whose rows are lost because draft & publish or locales are switched off. */
function addLostRows(read: ReadRows, now: TypeDefinition, change: ModelChange, found: Effects): void {
  const before = contentTypeOf(change.before.registry, now.uid);
  const is = change.now.model as ContentType;
  const losesLocales = before.localized && !is.localized;
  const losesDrafts = before.draftAndPublish && !is.draftAndPublish;
  if (!losesLocales && !losesDrafts) return;
  const lost = (attribute: string, id: unknown) =>
    found.add({ model: now.uid, attribute, outcome: 'lost' }, id as number);
  for (const [id, locale, sharedEdited, sharedPublished, draft, published] of read(ENTRIES, now.uid)) {
    if (losesLocales && locale !== now.defaultLocale) lost('locale', id);
    const shared = { sharedEdited: Number(sharedEdited), sharedPublished: Number(sharedPublished) };
    const [draftAt, publishedAt] = [draft, published].map((each) =>
      each === null ? undefined : Number(each),
    );
    if (losesDrafts && publicationStateAt(draftAt, publishedAt, shared) !== 'published')
      lost('publishedAt', id);
  }
}

/** Adds entries with kept values, rows and links that come back. */
function addRestored(
  read: ReadRows,
  { before, now }: Redefinition,
  change: ModelChange,
  found: Effects,
): void {
  const add = (model: Uid, attribute: string, entry: unknown) =>
    found.add({ model, attribute, outcome: 'restored' }, entry as number);
  for (const [entry, owner, attribute, definition, data] of read(KEPT, now.uid)) {
    const kept = JSON.parse(String(definition)) as TypeDefinition;
    const [uid = ''] = String(owner).split(' ');
    const shown = [before, now].map((each) => {
      if (owner === '' && isWholeRow(String(attribute)))
        return showsRow(each, String(attribute)) && isMissed(String(data)) ? 1 : 0;
      const all = changeOf(kept, each);
      const inside = owner === '' ? all : componentChange(all, uid);
      const values = { [String(attribute)]: JSON.parse(String(data)) as unknown };
      return inside === undefined ? 0 : weightOf(Object.values(convertValues(inside, values)));
    });
    const [was = 0, is = 0] = shown;
    if (is > was) add(owner === '' ? now.uid : uid, String(attribute), entry);
  }
  for (const attribute of change.now.model.attributes.values()) {
    if (attribute.kind !== 'relation' || attribute.mappedBy !== undefined) continue;
    const known = change.before.model.attributes.get(attribute.name);
    if (known?.kind === 'relation' && known.target === attribute.target) continue;
    const relation = relationName(now.uid, [], attribute.name);
    for (const [source] of read(KEPT_LINKS, relation, attribute.target)) add(now.uid, attribute.name, source);
  }
}

/** Returns whether somebody misses a kept row: a draft that equals its published row is not missed. */
function isMissed(data: string): boolean {
  return (JSON.parse(data) as { readonly isChanged?: boolean } | null)?.isChanged !== false;
}

/** Returns whether a type shows the rows that are kept under this name. */
function showsRow(definition: TypeDefinition, name: string): boolean {
  const type = modelOfDefinition(definition).model;
  return name === ROW_WITHOUT_LOCALES ? type.localized : name === ROW_WITHOUT_DRAFTS && type.draftAndPublish;
}
