import type { EntryValues, LinkTarget, RelationOperation } from '../../shared/document/events.ts';
import type { ContentType, RelationAttribute } from '../../shared/schema/content-type.ts';
import { checkOfAttribute } from './attribute-condition.ts';
import { type EntryCheck, reportType } from './check.ts';
import { checkAttribute } from './check-component.ts';
import type { Data } from './parse-data.ts';
import { orderConnections } from './place-links.ts';
import { notLinkedError } from './relation-problems.ts';
import { checkPublishedRelation, checkRequiredRelation } from './required-relations.ts';
import { resolveRelation } from './resolve-relation.ts';
import { unknownDocumentError } from './unknown-documents.ts';

/** Body in stored form: only values that were sent or have a default; null clears. */
export type EntryInput = {
  readonly values: EntryValues;
  readonly relations: readonly RelationOperation[];
};

/** The entry before the write. Components keep their ids from it, and slots are relative to its links. */
export type Current = {
  readonly values: EntryValues;
  /** Returns whether a further locale gets the attribute from the other locales if no value is sent. null counts as no value. */
  readonly inherits: (attribute: string) => boolean;
  readonly linked: (attribute: string) => readonly LinkTarget[];
};

/**
 * Validates a body against its content type, reports problems to `check` (not yet in Strapi's order), and returns the values to store.
 * Throws 400 for the first document that does not exist.
 */
export function checkEntry(check: EntryCheck, type: ContentType, data: Data, current: Current): EntryInput {
  const values: Record<string, unknown> = {};
  const relations: RelationOperation[] = [];
  if (!type.localized) checkLocale(check, data['locale']);
  for (const attribute of type.attributes.values()) {
    const sent = Object.hasOwn(data, attribute.name) ? data[attribute.name] : undefined;
    if ((sent === undefined || sent === null) && current.inherits(attribute.name)) continue;
    const own = checkOfAttribute(check, attribute, data);
    if (attribute.kind === 'relation') {
      checkRequiredRelation(own, attribute, attribute.name, sent);
      const operation = relationOperation(own, attribute, sent, current);
      if (operation !== undefined) relations.push(operation);
    } else {
      const existing = current.values[attribute.name];
      const value = checkAttribute(own, attribute, { path: attribute.name, value: sent, existing });
      if (value !== undefined) values[attribute.name] = value;
    }
  }
  const hasUnknown = check.relations.unknown.length > 0;
  const unknown = hasUnknown ? unknownDocumentError(check.relations, type, data) : undefined;
  if (unknown !== undefined) throw unknown;
  return { values, relations };
}

/** Reports a `locale` that is not a text. A type without i18n has no locales, but Strapi validates the attribute. */
function checkLocale(check: EntryCheck, locale: unknown): void {
  if (locale === undefined || locale === null || typeof locale === 'string') return;
  reportType(check, 'locale', 'string', locale);
}

/** An entry that is to be published. */
export type Stored = Omit<Current, 'inherits'>;

/** Validates a whole stored entry for publishing; reports problems to `check`, whose mode is `publish`. */
export function checkStoredEntry(check: EntryCheck, type: ContentType, { values, linked }: Stored): void {
  for (const attribute of type.attributes.values()) {
    const { name } = attribute;
    const own = checkOfAttribute(check, attribute, values);
    if (attribute.kind === 'relation') checkPublishedRelation(own, attribute, name, () => linked(name));
    else checkAttribute(own, attribute, { path: name, value: values[name], existing: undefined });
  }
}

function relationOperation(
  check: EntryCheck,
  attribute: RelationAttribute,
  sent: unknown,
  current: Current,
): RelationOperation | undefined {
  const input = resolveRelation(check.relations, attribute, sent);
  if (input === undefined) return undefined;
  if (input.kind === 'set') return { attribute: attribute.name, kind: 'set', targets: input.targets };
  const connect = orderConnections(
    input,
    () => current.linked(attribute.name),
    check.relations.late,
    notLinkedError(check.relations, attribute),
  );
  return { attribute: attribute.name, kind: 'update', disconnect: input.disconnect, connect };
}
