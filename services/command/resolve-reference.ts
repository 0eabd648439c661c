import type { LinkPlace, LinkTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { valueAt } from '../../shared/map-values.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { RelationAttribute, Uid } from '../../shared/schema/content-type.ts';
import { INVALID_RELATIONS, problemsError } from './problem.ts';
import type { ReferencesToType, RelationScope } from './relation-scope.ts';

/** Ids of PostgreSQL's rows. */
const MAX_ROW_ID = 2 ** 31 - 1;

/** Returns the references in a value. Lists in it are flattened, and nulls have no effect. */
export function referencesIn(value: unknown): unknown[] {
  return [value].flat(20).filter((item) => item !== null && item !== undefined);
}

/** Returns the references in a value that has all targets. If the relation leads to one entry, Strapi looks only at the last reference. */
export function targetsOf({ toMany, media }: RelationAttribute, value: unknown): unknown[] {
  const isLastOnly = Array.isArray(value) && !toMany && media === undefined;
  return referencesIn(isLastOnly ? value.slice(-1) : value);
}

/** Returns the documentId of a reference, which may be a text. As in Strapi, a text that begins with a number is a row id. */
export function documentIdIn(reference: unknown): string | undefined {
  if (isRecord(reference)) return reference['documentId'] ? plainText(reference['documentId']) : undefined;
  if (typeof reference !== 'string' || reference === '') return undefined;
  return Number.isNaN(Number.parseInt(reference, 10)) ? reference : undefined;
}

/**
 * Returns the target of a reference, which is a documentId, a row id, or an object with one. Notes unknown documents in `scope`, and also
 * ids that no row has, unless the target `may-be-missing`.
 */
export function resolveReference(
  scope: RelationScope,
  { target }: RelationAttribute,
  reference: unknown,
  presence: 'must-exist' | 'may-be-missing',
): LinkTarget | undefined {
  const to = referencesTo(scope, target);
  const documentId = documentIdIn(reference);
  if (documentId !== undefined) {
    return byDocument(scope, target, documentId, isRecord(reference) ? reference['locale'] : undefined);
  }
  const given = isRecord(reference) ? reference['id'] : reference;
  const id = rowIdIn(given);
  if (id === undefined) {
    if (presence === 'may-be-missing')
      scope.late.push(problemsError([{ path: '', message: INVALID_RELATIONS }]));
    else if (given === null) to.missing.add(null);
    else if (given === undefined || given === '') to.unreadable = 'by-strapi';
    else to.unreadable ??= 'by-database';
    return undefined;
  }
  const found = byRowId(scope, target, id);
  if (found === undefined && presence === 'must-exist') to.missing.add(id);
  return found;
}

/** Returns the slot that a `position` names: next to a target, at the start or at the end. */
export function placeOf(scope: RelationScope, attribute: RelationAttribute, reference: unknown): LinkPlace {
  const position = isRecord(reference) ? reference['position'] : undefined;
  if (!isRecord(position)) return { at: 'end' };
  for (const at of ['before', 'after'] as const) {
    const neighbour = position[at];
    if (neighbour === undefined || neighbour === null || neighbour === '') continue;
    // In Strapi the neighbour of a document is a document.
    const isDocument = documentIdIn(reference) !== undefined || rowIdIn(neighbour) === undefined;
    const target = isDocument
      ? byDocument(scope, attribute.target, plainText(neighbour), position['locale'])
      : resolveReference(scope, attribute, neighbour, 'must-exist');
    return target === undefined ? { at: 'end' } : { at, ...target };
  }
  return { at: position['start'] ? 'start' : 'end' };
}

function referencesTo({ references }: RelationScope, type: Uid): ReferencesToType {
  return valueAt(references, type, () => ({ unreadable: null, missing: new Set() }));
}

function rowIdIn(value: unknown): number | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || !/^[+-]?\d{1,15}$/.test(value.trim())))
    return undefined;
  const id = Number(value);
  return Number.isInteger(id) && Math.abs(id) <= MAX_ROW_ID ? id : undefined;
}

function byDocument(
  scope: RelationScope,
  type: Uid,
  documentId: string,
  given: unknown,
): LinkTarget | undefined {
  const locale = targetLocale(scope, type, given ? plainText(given) : undefined);
  if (scope.finder.exists(type, documentId, locale)) return { documentId, locale };
  scope.unknown.push({ type, documentId, locale });
  return undefined;
}

function byRowId(scope: RelationScope, type: Uid, id: number): LinkTarget | undefined {
  const row = scope.finder.byId(type, id);
  if (row === undefined) return undefined;
  const locale = targetLocale(scope, type, row.locale ?? undefined);
  const isThere = locale === row.locale || scope.finder.exists(type, row.documentId, locale);
  return isThere ? { documentId: row.documentId, locale } : undefined;
}

/** Returns the locale of a target: the same locale as that of an entry with i18n, else the given or the default locale. */
function targetLocale(scope: RelationScope, target: Uid, given: string | undefined): string | null {
  if (scope.registry.contentTypes.get(target)?.localized !== true) return null;
  return scope.locale ?? given ?? scope.defaultLocale;
}
