import type { LinkTarget } from '../../shared/document/events.ts';
import type { DocumentName, RecordedRows } from '../../shared/document/recorded-rows.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { RelationAttribute, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { HasRow, SlotOf } from './desired-rows.ts';
import { targetKey } from './rest-row.ts';
import { slotsOf } from './slots.ts';
import { DOCUMENTS_AT_ONCE, type Source, type SourceRow, worldOf } from './source.ts';
import { type GraphDocument, storedTargets } from './stored-document.ts';

export type SourceDocument = DocumentName & { readonly rows: readonly SourceRow[] };

export type ClosureOptions = {
  readonly registry: SchemaRegistry;
  readonly source: Pick<Source, 'documents'>;
  readonly stored: (name: DocumentName) => GraphDocument;
  readonly owners: RecordedRows['owners'];
};

/** Documents that have to be read together: a change of one also changes the relations of the others. */
export type Closure = {
  readonly documents: readonly SourceDocument[];
  readonly slotOf: SlotOf;
  readonly hasRow: HasRow;
  /** False if the source changed while it was read. */
  readonly isConsistent: boolean;
};

/** Returns a key for maps of documents. */
export function documentKey({ type, documentId }: DocumentName): string {
  return `${type} ${documentId}`;
}

/**
 * Reads documents, and the documents on the other side of every relation that differs from its stored state. A changed relation changes the
 * times of one side only, and the source sends no webhook for the other side. Documents that are not stored yet are read later, on their
 * own.
 */
export async function readClosure(
  options: ClosureOptions,
  origins: readonly DocumentName[],
): Promise<Closure> {
  const read = new Map<string, SourceDocument>();
  /** Documents that are not stored yet, read only for the slots in their lists. */
  const listed = new Map<string, SourceDocument>();
  const find = (key: string) => read.get(key) ?? listed.get(key);
  const slots = createSlots(options, find);
  let wave: readonly DocumentName[] = origins;
  while (wave.length > 0) {
    const documents = await readDocuments(options, wave);
    for (const document of documents) read.set(documentKey(document), document);
    const near = documents.flatMap((document) => neighbours(options, slots, document));
    const found = new Map(near.map((name) => [documentKey(name), name]));
    const unread = [...found.values()].filter((name) => !read.has(documentKey(name)));
    const isKnown = (name: DocumentName) => options.stored(name).entries.length > 0;
    wave = unread.filter(isKnown);
    const unlisted = unread.filter((name) => !isKnown(name) && !listed.has(documentKey(name)));
    for (const document of await readDocuments(options, unlisted))
      listed.set(documentKey(document), document);
  }
  const documents = [...read.values()];
  return {
    documents,
    slotOf: slots.slotOf,
    hasRow(type, { documentId, locale }, world) {
      const name = { type, documentId };
      const rows = find(documentKey(name))?.rows ?? options.stored(name).entries;
      return rows.some((row) => row.locale === locale && worldsOf(row).includes(world));
    },
    isConsistent: documents.every((document) => agrees(options, read, document)),
  };
}

async function readDocuments(
  { source }: ClosureOptions,
  names: readonly DocumentName[],
): Promise<readonly SourceDocument[]> {
  const documents: SourceDocument[] = [];
  for (const [type, ofType] of Map.groupBy(names, (name) => name.type)) {
    const ids = ofType.map(({ documentId }) => documentId);
    for (let at = 0; at < ids.length; at += DOCUMENTS_AT_ONCE) {
      const batch = ids.slice(at, at + DOCUMENTS_AT_ONCE);
      const rows = Map.groupBy(await source.documents(type, batch), ({ documentId }) => documentId);
      for (const documentId of batch) documents.push({ type, documentId, rows: rows.get(documentId) ?? [] });
    }
  }
  return documents;
}

type Slots = ReturnType<typeof createSlots>;

/** Returns the documents on the other side of relations that differ from their stored state. */
function neighbours(
  options: ClosureOptions,
  slots: Slots,
  document: SourceDocument,
): readonly DocumentName[] {
  const { type, documentId, rows } = document;
  const stored = options.stored(document);
  const ids = new Set(stored.entries.map(({ id }) => id));
  const isReplaced = ids.size > 0 && rows.some(({ id }) => !ids.has(id));
  const found: DocumentName[] = isReplaced ? [...options.owners(type, documentId)] : [];
  for (const attribute of shownRelations(options.registry, type)) {
    const isOwner = attribute.mappedBy === undefined;
    for (const row of rows) {
      for (const world of worldsOf(row)) {
        const shown = new Set(row.lists.get(attribute.name)?.[world].map(targetKey));
        if (!row.lists.has(attribute.name)) continue;
        const before = storedTargets(stored, { attribute: attribute.name, locale: row.locale, world }).map(
          ({ far }) => targetKey(far),
        );
        const moved = isOwner ? [] : slots.moved(row, attribute, world);
        const changed = new Set(before).symmetricDifference(shown).union(new Set(moved));
        for (const key of changed)
          found.push({ type: attribute.target, documentId: key.split(' ')[0] as string });
      }
    }
  }
  return found;
}

/** Returns the relations that both sides show. */
function shownRelations(registry: SchemaRegistry, type: Uid): readonly RelationAttribute[] {
  return [...contentTypeOf(registry, type).attributes.values()].filter(
    (attribute) =>
      attribute.kind === 'relation' &&
      (attribute.mappedBy !== undefined || attribute.inversedBy !== undefined) &&
      registry.contentTypes.has(attribute.target),
  ) as RelationAttribute[];
}

function worldsOf({ version }: Pick<SourceRow, 'version'>): readonly World[] {
  return version === 'live' ? ['draft', 'published'] : [version];
}

/** Finds the slots of links in the lists of targets that were read. */
function createSlots(options: ClosureOptions, find: (key: string) => SourceDocument | undefined) {
  const known = new WeakMap<SourceRow, Map<string, ReadonlyMap<string, number>>>();
  const before = (row: SourceRow, attribute: string, world: World) =>
    new Map(
      storedTargets(options.stored(row), { attribute, locale: row.locale, world }).map(
        ({ far, targetOrder }) => [targetKey(far), targetOrder],
      ),
    );
  const slotsIn = (row: SourceRow, attribute: string, world: World): ReadonlyMap<string, number> => {
    const ofRow = valueAt(known, row, () => new Map<string, ReadonlyMap<string, number>>());
    return valueAt(ofRow, `${world} ${attribute}`, () =>
      slotsOf((row.lists.get(attribute)?.[world] ?? []).map(targetKey), before(row, attribute, world)),
    );
  };
  const slotOf: SlotOf = (owner, attribute, target) => {
    const definition = contentTypeOf(options.registry, owner.type).attributes.get(attribute);
    if (definition?.kind !== 'relation' || definition.inversedBy === undefined) return undefined;
    const world = worldOf(owner);
    const rows = find(documentKey({ type: definition.target, documentId: target.documentId }))?.rows;
    const row = rows?.find((each) => each.locale === target.locale && worldsOf(each).includes(world));
    return row && slotsIn(row, definition.inversedBy, world).get(targetKey(owner));
  };
  return {
    slotOf,
    /** Returns owners whose slot in a row's list differs from the stored one. Both worlds of an unversioned owner share a slot. */
    moved(row: SourceRow, { name, target }: RelationAttribute, world: World): readonly string[] {
      const { draftAndPublish } = contentTypeOf(options.registry, target);
      if (world === 'published' && !draftAndPublish) return [];
      const stored = before(row, name, world);
      return [...slotsIn(row, name, world)]
        .filter(([key, slot]) => stored.get(key) !== slot)
        .map(([key]) => key);
    },
  };
}

/** Returns whether both sides of each relation that was read show each other. */
function agrees(
  { registry }: ClosureOptions,
  read: ReadonlyMap<string, SourceDocument>,
  { type, rows }: SourceDocument,
): boolean {
  return shownRelations(registry, type).every((attribute) => {
    const other = attribute.inversedBy ?? attribute.mappedBy ?? '';
    return rows.every((row) =>
      worldsOf(row).every((world) =>
        (row.lists.get(attribute.name)?.[world] ?? []).every((target: LinkTarget) => {
          const key = documentKey({ type: attribute.target, documentId: target.documentId });
          const far = read.get(key);
          if (far === undefined) return true;
          const there = far.rows.find(
            (each) => each.locale === target.locale && worldsOf(each).includes(world),
          );
          const back = there?.lists.get(other)?.[world];
          return (
            there !== undefined &&
            (back === undefined || back.some((each) => targetKey(each) === targetKey(row)))
          );
        }),
      ),
    );
  });
}
