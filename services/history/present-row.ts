import type { Entry } from '../../shared/document/entry.ts';
import type { LinkTarget } from '../../shared/document/events.ts';
import type { DocumentName, RecordedLink, RecordedRows } from '../../shared/document/recorded-rows.ts';
import { isRecord } from '../../shared/json-record.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type {
  Attribute,
  ContentType,
  Model,
  RelationAttribute,
  Uid,
} from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Rows of a document and the links of both worlds, at one moment. */
export type Snapshot = { readonly entries: readonly Entry[]; readonly links: readonly RecordedLink[] };

/** Reads a document of a graph. */
export function snapshotOf(
  graph: {
    readonly reader: { entries(type: Uid, documentId: string): readonly Entry[] };
    readonly recorded: Pick<RecordedRows, 'links'>;
  },
  { type, documentId }: DocumentName,
): Snapshot {
  return { entries: graph.reader.entries(type, documentId), links: graph.recorded.links(type, documentId) };
}

/** Content types as the caller sees them, and whether the caller may see that a document exists. */
export type Viewer = {
  readonly registry: SchemaRegistry;
  readonly showsTarget: (type: Uid, target: LinkTarget) => boolean;
};

type Values = { readonly [name: string]: unknown };

/**
 * Returns a row as answers show it, with all its components and the links that it owns, as documentIds. Ids of rows and components are
 * omitted: other documents' events decide about them.
 */
export function presentRow(viewer: Viewer, snapshot: Snapshot, row: Entry): Values {
  const type = contentTypeOf(viewer.registry, row.type);
  const shown = presentModel(viewer, type, { ...row.values, ...ownLinksOf(type, snapshot, row) });
  const { createdAt, updatedAt, publishedAt, documentId, locale } = row;
  const times = Object.entries({ createdAt, updatedAt, publishedAt }).filter(
    ([name]) => !(type.privateTimes as readonly string[] | undefined)?.includes(name),
  );
  const localized = type.localized ? { locale } : {};
  return { documentId, ...shown, ...Object.fromEntries(times), ...localized };
}

/** Returns a row's links by the attributes that own them, in order. */
export function ownLinksOf({ attributes }: ContentType, { links }: Snapshot, row: Entry): Values {
  const world = row.version === 'draft' ? 'draft' : 'published';
  const owning = [...attributes.values()].filter(isOwner);
  return Object.fromEntries(
    owning.map(({ name }) => {
      const own = links.filter(
        (link) => link.attribute === name && link.world === world && link.locale === row.locale,
      );
      return [name, own.sort((a, b) => a.sourceOrder - b.sourceOrder).map(({ far }) => far)];
    }),
  );
}

/** Returns whether the links of an attribute are in its own document. */
export function isOwner(attribute: Attribute): attribute is RelationAttribute {
  return attribute.kind === 'relation' && attribute.mappedBy === undefined;
}

function presentModel(viewer: Viewer, { attributes }: Model, values: Values): Values {
  const shown = [...attributes.values()].filter(
    (attribute) => !attribute.private && (attribute.kind !== 'relation' || isOwner(attribute)),
  );
  return Object.fromEntries(
    shown.map((attribute) => [
      attribute.name,
      presentValue(viewer, attribute, values[attribute.name] ?? null),
    ]),
  );
}

function presentValue(viewer: Viewer, attribute: Attribute, value: unknown): unknown {
  if (attribute.kind === 'scalar') return value;
  if (attribute.kind === 'relation') {
    const targets = ((value ?? []) as readonly LinkTarget[])
      .filter((target) => viewer.showsTarget(attribute.target, target))
      .map(({ documentId, locale }) => (locale === null ? { documentId } : { documentId, locale }));
    return attribute.toMany ? targets : (targets[0] ?? null);
  }
  const present = (part: unknown): Values | null => {
    if (!isRecord(part)) return null;
    const uid = uidOfComponent(attribute, part);
    const component = viewer.registry.components.get(uid);
    if (component === undefined) return null;
    const shown = presentModel(viewer, component, part);
    return attribute.kind === 'dynamiczone' ? { __component: uid, ...shown } : shown;
  };
  const isOne = attribute.kind === 'component' && !attribute.repeatable;
  return isOne
    ? present(value)
    : [value ?? []]
        .flat()
        .map(present)
        .filter((part) => part !== null);
}
