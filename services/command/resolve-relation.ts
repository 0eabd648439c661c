import type { LinkPlace, LinkTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { valueAt } from '../../shared/map-values.ts';
import type { RelationAttribute, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { refuseOtherMedia } from './check-media.ts';
import { validationError } from './problem.ts';

/** Lookups of other documents for resolving a reference. */
export type LinkFinder = {
  /** Returns whether the document has a row, in `locale` unless that is null. */
  readonly exists: (type: Uid, documentId: string, locale: string | null) => boolean;
  /** Returns the document of the row with this numeric id. */
  readonly byId: (type: Uid, id: number) => LinkTarget | undefined;
  /** Returns the numeric id of a document's draft or only row, for messages. */
  readonly rowId: (type: Uid, target: LinkTarget) => number | undefined;
  /** Returns whether the document has a published row in the target's locale, or any row if its type has no drafts. */
  readonly isPublished: (type: Uid, target: LinkTarget) => boolean;
  /** Returns the MIME type of a file. Absent: the kinds of files are not validated (in an import). */
  readonly mimeOf?: (documentId: string) => string | undefined;
};

export type RelationScope = {
  readonly registry: SchemaRegistry;
  readonly finder: LinkFinder;
  readonly defaultLocale: string;
  /** Locale of the entry that is written: null if its type has no i18n. */
  readonly locale: string | null;
  /** True for a new entry, in which the option `strict` of a relation has no effect, as in Strapi. */
  readonly isNewEntry: boolean;
  /** True: required relations and files must be present, as in Strapi with `strictRelations`. */
  readonly strict: boolean;
  /** Output: the first problem because of which the relations cannot be parsed, in Strapi's words. */
  readonly faults: string[];
  /** Output: numeric ids that no row has, by type. */
  readonly missing: Map<Uid, Set<number>>;
};

export type RelationConnection = { readonly target: LinkTarget; readonly place: LinkPlace };

/** A relation value of a body in one form. `update`: disconnect first, then connect in order. */
export type RelationInput =
  | { readonly kind: 'set'; readonly targets: readonly LinkTarget[] }
  | {
      readonly kind: 'update';
      readonly disconnect: readonly LinkTarget[];
      readonly connect: readonly RelationConnection[];
      /** False: a slot next to a target that is not linked means the end of the list, and is not an error. */
      readonly strict: boolean;
    };

export const INVALID_RELATIONS = 'Invalid relations';
/** Names of the operations of a relation in a body. */
export const RELATION_OPERATIONS = ['connect', 'disconnect', 'set'] as const;

/**
 * Resolves a relation in any of the forms of SEMANTICS section 13 (documentId, row id, object, array,
 * connect/disconnect/set); undefined if it changes nothing. `set` wins over `connect`; a to-one uses the last of
 * several, of `connect` and of files the first. Throws 400 for a document that does not exist; reports unreadable forms and unknown
 * row ids in `scope`.
 */
export function resolveRelation(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationInput | undefined {
  const input = readRelation(scope, attribute, value);
  if (input === undefined) return undefined;
  const targets = input.kind === 'set' ? input.targets : input.connect.map(({ target }) => target);
  refuseOtherMedia(attribute, targets, scope.finder.mimeOf);
  return input;
}

function readRelation(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationInput | undefined {
  if (value === undefined) return undefined;
  if (value === null) return { kind: 'set', targets: [] };
  if (!isRecord(value) || 'id' in value || 'documentId' in value) {
    return setOf(attribute, references(scope, attribute, value, 'must-exist'));
  }
  if (RELATION_OPERATIONS.some((operation) => isEmptyScalar(value[operation])))
    scope.faults.push(INVALID_RELATIONS);
  if (value['set']) return setOf(attribute, references(scope, attribute, value['set'], 'must-exist'));
  if (!value['connect'] && !value['disconnect']) return undefined;
  return updateOf(scope, attribute, value);
}

function isEmptyScalar(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function setOf(attribute: RelationAttribute, targets: readonly LinkTarget[]): RelationInput {
  return {
    kind: 'set',
    targets: attribute.toMany ? distinct(targets, (target) => target) : oneOf(attribute, targets),
  };
}

/** Returns the last of several targets, or the first of several files, as in Strapi. */
function oneOf({ media }: RelationAttribute, targets: readonly LinkTarget[]): readonly LinkTarget[] {
  return media === undefined ? targets.slice(-1) : targets.slice(0, 1);
}

function updateOf(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: { readonly [key: string]: unknown },
): RelationInput | undefined {
  const disconnect = references(scope, attribute, value['disconnect'] || [], 'may-be-missing');
  const connect = connections(scope, attribute, value['connect'] || []);
  if (!attribute.toMany && connect.length > 0) {
    return { kind: 'set', targets: connect.slice(0, 1).map(({ target }) => target) };
  }
  const connected = new Set(connect.map(({ target }) => linkKey(target)));
  const removed = distinct(disconnect, (target) => target).filter(
    (target) => !connected.has(linkKey(target)),
  );
  if (removed.length === 0 && connect.length === 0) return undefined;
  const options = isRecord(value['options']) ? value['options'] : {};
  return {
    kind: 'update',
    disconnect: removed,
    connect: distinct(connect, ({ target }) => target),
    strict: scope.isNewEntry || Boolean(options['strict'] ?? true),
  };
}

function references(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
  presence: 'must-exist' | 'may-be-missing',
): LinkTarget[] {
  return listOf(value)
    .map((item) => reference(scope, attribute, item, presence))
    .filter((target) => target !== undefined);
}

function connections(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationConnection[] {
  /** Positions as they were given, by target. */
  const given = new Map<string, string | undefined>();
  return listOf(value).flatMap((item) => {
    const target = reference(scope, attribute, item, 'must-exist');
    if (target === undefined) return [];
    const position = isRecord(item) ? item['position'] : undefined;
    const key = linkKey(target);
    if (attribute.toMany && given.has(key) && given.get(key) !== JSON.stringify(position))
      throw connectedTwice(scope, attribute, target);
    given.set(key, JSON.stringify(position));
    return [{ target, place: placeOf(scope, attribute, position) }];
  });
}

/** Reports a document at two different positions, which Strapi refuses. The same item may occur twice. */
function connectedTwice(scope: RelationScope, attribute: RelationAttribute, target: LinkTarget): Error {
  const id = scope.finder.rowId(attribute.target, target);
  return validationError(
    `The relation with id ${id} is already connected. You cannot connect the same relation twice.`,
  );
}

function listOf(value: unknown): unknown[] {
  return [value].flat().filter((item) => item !== null && item !== undefined);
}

function reference(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
  presence: 'must-exist' | 'may-be-missing',
): LinkTarget | undefined {
  if (isRecord(value)) {
    const { documentId, id, locale } = value;
    if (typeof documentId === 'string' && documentId !== '')
      return byDocument(scope, attribute, documentId, locale);
    if (isRowId(id)) return byRowId(scope, attribute, Number(id), presence);
  } else if (isRowId(value)) return byRowId(scope, attribute, Number(value), presence);
  else if (typeof value === 'string' && value !== '') return byDocument(scope, attribute, value, undefined);
  scope.faults.push(INVALID_RELATIONS);
  return undefined;
}

function isRowId(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'string' && /^\d{1,15}$/.test(value);
}

function byDocument(
  scope: RelationScope,
  { target }: RelationAttribute,
  documentId: string,
  given: unknown,
): LinkTarget {
  const locale = targetLocale(scope, target, typeof given === 'string' && given !== '' ? given : undefined);
  if (scope.finder.exists(target, documentId, locale)) return { documentId, locale };
  throw validationError(`Document with id "${documentId}", locale "${locale}" not found`);
}

function byRowId(
  scope: RelationScope,
  { target }: RelationAttribute,
  id: number,
  presence: 'must-exist' | 'may-be-missing',
): LinkTarget | undefined {
  const row = scope.finder.byId(target, id);
  if (row !== undefined) {
    const locale = targetLocale(scope, target, row.locale ?? undefined);
    if (locale === row.locale || scope.finder.exists(target, row.documentId, locale)) {
      return { documentId: row.documentId, locale };
    }
  }
  if (presence === 'must-exist') valueAt(scope.missing, target, () => new Set()).add(id);
  return undefined;
}

/**
 * Returns the locale of a target: the same locale as that of an entry with i18n, else the given or the default locale.
 */
function targetLocale(scope: RelationScope, target: Uid, given: string | undefined): string | null {
  if (scope.registry.contentTypes.get(target)?.localized !== true) return null;
  return scope.locale ?? given ?? scope.defaultLocale;
}

function placeOf(scope: RelationScope, attribute: RelationAttribute, position: unknown): LinkPlace {
  if (!isRecord(position)) return { at: 'end' };
  for (const at of ['before', 'after'] as const) {
    if (position[at] === undefined || position[at] === null || position[at] === '') continue;
    const neighbour = { documentId: position[at], locale: position['locale'] };
    const target = reference(
      scope,
      attribute,
      isRowId(position[at]) ? position[at] : neighbour,
      'must-exist',
    );
    return target === undefined ? { at: 'end' } : { at, ...target };
  }
  return { at: position['start'] ? 'start' : 'end' };
}

/** Key of a link, equal for links to the same rows. */
export function linkKey({ documentId, locale }: LinkTarget): string {
  return `${documentId}/${locale ?? ''}`;
}

/** Returns the first item of each target. */
function distinct<Item>(items: readonly Item[], targetOf: (item: Item) => LinkTarget): Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = linkKey(targetOf(item));
    return seen.has(key) ? false : seen.add(key);
  });
}
