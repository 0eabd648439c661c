import type { EntryImported, ImportedTarget } from '../../../shared/document/events.ts';
import { WORLDS } from '../../../shared/read-index/read-index.ts';
import { recordWritten } from '../../journal/record-changes.ts';
import { storedValues } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { newLink, removeLinks } from '../store/link-store.ts';
import type { Values } from '../store/present-row.ts';
import { UNVERSIONED, type VersionNumber, versionNumber, worldsOf } from '../store/row-keys.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { addRow, assignId, showLinks } from './row-lifecycle.ts';

type Imported = EntryImported['data'];

/** Replaces a version of an entry with the version of another system, including the links that it owns there. */
export function importEntry(context: GraphContext, entry: GraphEntry, moment: Moment, data: Imported): void {
  const version = versionNumber(data.version);
  if ((version === UNVERSIONED) === entry.view.draftAndPublish)
    throw new Error(
      `a type ${version === UNVERSIONED ? 'with' : 'without'} draft & publish has no ${data.version} version`,
    );
  const before = entry.rows[version];
  recordWritten(context, moment, entry, { version, changed: 'all' });
  if (before !== undefined) removeLinks(context.links, context.links.ownedBy(entry.id), worldsOf(version));
  context.keptValues.clear(entry.id, version);
  context.keptLinks.clear(entry.id, version);
  const keepsId = before !== undefined && (data.id === undefined || data.id === before.id);
  const { createdAt, updatedAt, publishedAt } = data;
  const row = addRow(context, entry, version, {
    id: keepsId ? before.id : assignId(context, entry, version, data.id),
    createdAt,
    updatedAt,
    publishedAt,
    position: moment.position,
    values: {},
  });
  row.values = importedValues(context, entry, version, data.values);
  for (const { attribute, targets } of data.relations) {
    const definition = entry.view.type.attributes.get(attribute);
    if (definition?.kind !== 'relation' || definition.mappedBy !== undefined) continue;
    addLinks(context, entry, version, {
      relation: entry.view.relation(attribute).relation,
      component: 0,
      targets,
    });
  }
  if (before === undefined && !entry.isNew) showLinks(context, entry, version);
}

/** Returns the values of an import. Components keep the ids of the event, because the ids of one system do not collide. */
function importedValues(
  context: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  given: Imported['values'],
): Values {
  const { schema, sequences } = context;
  const splitter = {
    registry: schema.registry,
    isKept(uid: string, id: number) {
      sequences.raise(`component ${uid}`, id);
      return true;
    },
    nextId: (uid: string) => sequences.next(`component ${uid}`),
  };
  return storedValues(splitter, entry.view.type, given, (_, links) => {
    for (const { path, attribute, component, targets } of links) {
      const relation = schema.relation({ type: entry.view.uid, path }, attribute);
      addLinks(context, entry, version, { relation, component, targets });
    }
  });
}

type OwnedLinks = {
  readonly relation: GraphRelation;
  /** 0: the link belongs to the entry itself. */
  readonly component: number;
  readonly targets: readonly ImportedTarget[];
};

function addLinks(
  { links, names, sequences }: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  { relation, component, targets }: OwnedLinks,
): void {
  const known = new Map(
    links.ofSource(relation, entry.id, component).map((record) => [record.target, record]),
  );
  for (const { documentId, locale, order, world: only } of oneInEachWorld(relation, targets)) {
    const target = names.entry(relation.targetType, documentId, locale);
    const record = known.get(target) ?? newLink(relation, entry.id, component, target);
    known.set(target, record);
    const sourceOrder = sequences.next('link');
    for (const world of worldsOf(version)) {
      if (only === undefined || only === WORLDS[world])
        record.orders[world] = { sourceOrder, targetOrder: order ?? sourceOrder };
    }
    links.save(record);
  }
}

/** Keeps only the last target of each world for a to-one relation. */
function oneInEachWorld(
  { toOne }: GraphRelation,
  targets: readonly ImportedTarget[],
): readonly ImportedTarget[] {
  if (!toOne) return targets;
  const last = WORLDS.flatMap(
    (world) => targets.findLast(({ world: only }) => (only ?? world) === world) ?? [],
  );
  return [...new Set(last)];
}
