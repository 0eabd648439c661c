import type { Entry } from '../../shared/document/entry.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { ContentType, Model } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ImportedRow } from '../strapi/archived-document.ts';
import { comparableValues } from './comparable-values.ts';
import { type DesiredOptions, desiredRows } from './desired-rows.ts';
import { targetKey } from './rest-row.ts';
import type { SourceRow } from './source.ts';
import { type GraphDocument, storedOwned } from './stored-document.ts';

type Values = { readonly [name: string]: unknown };

/** Returns the events that make a stored document equal to the source's; none if they are equal already. */
export function followedEvents(
  options: DesiredOptions,
  rows: readonly SourceRow[],
): readonly DocumentEvent[] {
  const { registry, type, stored } = options;
  const desired = desiredRows(options, rows).map((row) => {
    const entry = entryOf(stored, row);
    const source = rows.find(({ locale, version }) => locale === row.locale && version === row.version);
    return entry === undefined || source === undefined
      ? row
      : {
          ...row,
          values: withUnseen(registry, type, { values: row.values, entry: entry.values, data: source.data }),
        };
  });
  const locales = [...new Set([...desired, ...stored.entries].map(({ locale }) => locale))];
  return locales.flatMap((locale) =>
    eventsOfLocale(
      options,
      desired.filter((row) => row.locale === locale),
      stored.entries.filter((entry) => entry.locale === locale),
    ),
  );
}

function eventsOfLocale(
  options: DesiredOptions,
  desired: readonly ImportedRow[],
  entries: readonly Entry[],
): readonly DocumentEvent[] {
  const [gone] = entries;
  if (desired.length === 0) {
    if (gone === undefined) return [];
    const { type, documentId, locale } = gone;
    return [{ type: 'entry-deleted', data: { type, documentId, locale } }];
  }
  // The last row decides whether the entry is modified: rows after a changed one are stored again.
  const first = desired.findIndex((row) => !isStored(options, row));
  const changed = first === -1 ? [] : desired.slice(first);
  const isPublished = desired.some(({ version }) => version === 'published');
  const isUnpublished = !isPublished && entries.some(({ version }) => version === 'published');
  const { type, documentId, locale } = desired[0] as ImportedRow;
  return [
    ...(isUnpublished ? [{ type: 'entry-unpublished', data: { type, documentId, locale } } as const] : []),
    ...changed.map((data) => ({ type: 'entry-imported', data }) as const),
  ];
}

function entryOf({ entries }: GraphDocument, { locale, version }: ImportedRow): Entry | undefined {
  return entries.find((entry) => entry.locale === locale && entry.version === version);
}

function isStored({ registry, type, stored }: DesiredOptions, row: ImportedRow): boolean {
  const entry = entryOf(stored, row);
  if (entry === undefined) return false;
  const { createdAt, updatedAt, publishedAt } = entry;
  return (
    (row.id === undefined || row.id === entry.id) &&
    row.createdAt === createdAt &&
    row.updatedAt === updatedAt &&
    row.publishedAt === publishedAt &&
    comparableValues(registry, type, row.values) === comparableValues(registry, type, entry.values) &&
    hasRelations(type, stored, row)
  );
}

function hasRelations(type: ContentType, stored: GraphDocument, row: ImportedRow): boolean {
  return [...type.attributes.values()].every((attribute) => {
    if (attribute.kind !== 'relation' || attribute.mappedBy !== undefined) return true;
    const wanted = row.relations.find((relation) => relation.attribute === attribute.name)?.targets ?? [];
    const found = storedOwned(stored, row, attribute.name);
    return (
      wanted.length === found.length &&
      wanted.every(({ order, world, ...target }, at) => {
        const link = found[at];
        const isSame = link !== undefined && targetKey(link) === targetKey(target) && link.world === world;
        return isSame && (order === undefined || order === link.order);
      })
    );
  });
}

type Unseen = {
  readonly values: Values;
  /** Stored values. */
  readonly entry: Values;
  /** Values in the answer of the source. */
  readonly data: Values;
};

/** Adds the stored values of attributes that the source does not show, such as private ones and passwords. */
function withUnseen(registry: SchemaRegistry, model: Model, { values, entry, data }: Unseen): Values {
  const merged: Record<string, unknown> = { ...values };
  for (const attribute of model.attributes.values()) {
    const { name, kind } = attribute;
    if (kind === 'relation') continue;
    if (!(name in data)) {
      if (entry[name] !== undefined && entry[name] !== null) merged[name] = entry[name];
    } else if (kind !== 'scalar' && merged[name] !== undefined) {
      const uidOf = (value: Values) => uidOfComponent(attribute, value);
      const join = (value: Values): Values => {
        const same = (other: Values) => other['id'] === value['id'] && uidOf(other) === uidOf(value);
        const before = ([entry[name] ?? []].flat() as Values[]).find(same);
        const shown = ([data[name] ?? []].flat() as Values[]).find(same);
        const inner = registry.components.get(uidOf(value));
        if (before === undefined || shown === undefined || inner === undefined) return value;
        return withUnseen(registry, inner, { values: value, entry: before, data: shown });
      };
      const value = merged[name] as Values | readonly Values[];
      merged[name] = Array.isArray(value) ? value.map(join) : join(value as Values);
    }
  }
  return merged;
}
