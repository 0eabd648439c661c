import { valueAt } from '../../../shared/map-values.ts';
import type { ContentType, Uid } from '../../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { publicationStateAt } from '../store/graph-entry.ts';
import { ROW_COLUMNS } from '../store/graph-row.ts';
import type { Values } from '../store/present-row.ts';
import { entryOfKey } from '../store/row-keys.ts';
import { changeOf } from './change-of.ts';
import { convertValues, type ModelChange, type ValueNote } from './convert-values.ts';
import { isSameModel } from './definitions.ts';
import { type LostRelation, lostRelations } from './lost-relations.ts';

/** Effect of other definitions on the values of an attribute. */
export type TypeEffect = {
  /** `<model>.<attribute>`, such as `api::article.article.summary` or `shared.seo.title`. */
  readonly name: string;
  /** Uid of the content type or component. */
  readonly model: Uid;
  /** Attribute; `locale` if the type would have no locales, `publishedAt` if it would have no drafts. */
  readonly attribute: string;
  readonly outcome: ValueNote['outcome'];
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
