import type { LinkPlace, LinkTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { RelationAttribute } from '../../shared/schema/content-type.ts';
import { allowsMedia } from '../../shared/schema/media-kind.ts';
import { INVALID_RELATIONS, validationError } from './problem.ts';
import type { RelationScope } from './relation-scope.ts';
import { placeOf, referencesIn, resolveReference, targetsOf } from './resolve-reference.ts';

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

/** Names of the operations of a relation in a body. */
export const RELATION_OPERATIONS = ['connect', 'disconnect', 'set'] as const;

/**
 * Resolves a relation in any of the forms of SEMANTICS section 13 (documentId, row id, object, array, connect/disconnect/set); undefined if
 * it changes nothing. `set` wins over `connect`; a to-one uses the last of several, of `connect` and of files the first. Notes in `scope`
 * what Strapi refuses.
 */
export function resolveRelation(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationInput | undefined {
  const input = readRelation(scope, attribute, value);
  if (input === undefined) return undefined;
  const targets = input.kind === 'set' ? input.targets : input.connect.map(({ target }) => target);
  refuseOtherMedia(scope, attribute, targets);
  return input;
}

/** Notes the first file of a kind that the media attribute does not allow. In Strapi only the admin panel checks this. */
function refuseOtherMedia(
  { finder, late }: RelationScope,
  { name, media }: RelationAttribute,
  targets: readonly LinkTarget[],
): void {
  if (media === undefined) return;
  for (const { documentId } of targets) {
    const mime = finder.mimeOf?.(documentId);
    if (mime === undefined || allowsMedia(media.allowedTypes, mime)) continue;
    const { allowedTypes: accepted } = media;
    const message = `${name} accepts only ${accepted.join(', ')}: found a file of type ${mime}`;
    late.push(validationError(message, { path: name, found: mime, accepted }));
    return;
  }
}

function readRelation(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationInput | undefined {
  if (value === undefined) return undefined;
  if (value === null) return { kind: 'set', targets: [] };
  if (!isRecord(value) || 'id' in value || 'documentId' in value) {
    return setOf(attribute, references(scope, attribute, value));
  }
  const { connect, set } = value;
  if (isEmptyScalar(connect ?? set)) scope.faults.push(INVALID_RELATIONS);
  if (!set && !connect && !value['disconnect']) return undefined;
  if (!set) return updateOf(scope, attribute, value);
  // The others have no effect, but are looked up.
  updateOf({ ...scope, late: [] }, attribute, value);
  return setOf(attribute, references(scope, attribute, set));
}

function isEmptyScalar(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function setOf(attribute: RelationAttribute, targets: readonly LinkTarget[]): RelationInput {
  // If one file is allowed and several are given, Strapi links the first.
  return {
    kind: 'set',
    targets: attribute.toMany ? distinct(targets, (target) => target) : targets.slice(0, 1),
  };
}

function updateOf(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: { readonly [key: string]: unknown },
): RelationInput | undefined {
  const disconnect = referencesIn(value['disconnect'] || [])
    .map((item) => resolveReference(scope, attribute, item, 'may-be-missing'))
    .filter((target) => target !== undefined);
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

function references(scope: RelationScope, attribute: RelationAttribute, value: unknown): LinkTarget[] {
  return targetsOf(attribute, value)
    .map((item) => resolveReference(scope, attribute, item, 'must-exist'))
    .filter((target) => target !== undefined);
}

function connections(
  scope: RelationScope,
  attribute: RelationAttribute,
  value: unknown,
): RelationConnection[] {
  /** Positions as they were given, by target. */
  const given = new Map<string, string | undefined>();
  return referencesIn(value).flatMap((item) => {
    const target = resolveReference(scope, attribute, item, 'must-exist');
    if (target === undefined) return [];
    const position = JSON.stringify(isRecord(item) ? item['position'] : undefined);
    const key = linkKey(target);
    if (attribute.toMany && given.has(key) && given.get(key) !== position)
      scope.late.push(connectedTwice(scope, attribute, target));
    given.set(key, position);
    return [{ target, place: placeOf(scope, attribute, item) }];
  });
}

/** Returns the error for a document at two different positions, which Strapi refuses. The same item may occur twice. */
function connectedTwice(
  scope: RelationScope,
  attribute: RelationAttribute,
  target: LinkTarget,
): RequestError {
  const id = scope.finder.rowId(attribute.target, target);
  return validationError(
    `The relation with id ${id} is already connected. You cannot connect the same relation twice.`,
  );
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
