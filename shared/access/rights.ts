import { assertNever } from '../assert-never.ts';
import type { ContentType, Uid } from '../schema/content-type.ts';

/** Actions on a content type, with Strapi's names. A caller also needs `find` of a type to reach it from another one. */
export const ACTIONS = [
  'find',
  'findOne',
  'create',
  'update',
  'delete',
  'publish',
  'unpublish',
  'discardDraft',
] as const;
export type Action = (typeof ACTIONS)[number];

/** An action on a type: `api::restaurant.restaurant.find`. */
export type Right = `${Uid}.${Action}`;

/**
 * Rights of a caller. `drafts`: the caller may see unpublished entries and whether an entry is published. `history`: the caller may see
 * earlier versions of what it may see now.
 */
export type Rights =
  | { readonly kind: 'full-access' }
  | ({ readonly kind: 'read-only' } & AdditionalRights)
  | ({ readonly kind: 'custom'; readonly allowed: ReadonlySet<Right> } & AdditionalRights);

/** Rights that apply to all types which the caller may find. `history` absent: false. */
type AdditionalRights = { readonly drafts: boolean; readonly history?: boolean };

export const FULL_ACCESS: Rights = Object.freeze({ kind: 'full-access' });
export const NO_RIGHTS: Rights = Object.freeze({ kind: 'custom', allowed: new Set<Right>(), drafts: false });

/** Returns whether a caller may do something to entries of a type. `read-only` callers may read every type. */
export function may(rights: Rights, type: Uid, action: Action): boolean {
  switch (rights.kind) {
    case 'full-access':
      return true;
    case 'read-only':
      return action === 'find' || action === 'findOne';
    case 'custom':
      return rights.allowed.has(`${type}.${action}`) && (rights.drafts || !showsDraft(action));
    default:
      return assertNever(rights);
  }
}

/** Returns whether an action answers with the draft. Without the right to see drafts such an action is useless. */
export function showsDraft(action: Action): boolean {
  return action === 'unpublish' || action === 'discardDraft';
}

/** Returns whether the caller may list the type, and reach it by filters, sorts and `populate` from other types. */
export function mayFind(rights: Rights, type: Uid): boolean {
  return may(rights, type, 'find');
}

/** Returns whether a caller may ask for `status=draft`. */
export function mayReadDrafts(rights: Rights): boolean {
  return rights.kind === 'full-access' || rights.drafts;
}

/** Returns whether a caller may see earlier versions, and documents that were deleted. */
export function mayReadHistory(rights: Rights): boolean {
  return rights.kind === 'full-access' || rights.history === true;
}

/** Returns whether a caller has any right on content. */
export function mayAnything(rights: Rights): boolean {
  return rights.kind !== 'custom' || rights.allowed.size > 0;
}

/** Returns whether a caller may manage tokens and public rights. Only callers with full access may. */
export function mayAdminister(rights: Rights): boolean {
  return rights.kind === 'full-access';
}

/** Returns whether a caller may see the settings of the server. Only callers with full access may. */
export function maySeeSettings(rights: Rights): boolean {
  return rights.kind === 'full-access';
}

/** Returns a key that is equal for equal rights. */
export function rightsKey(rights: Rights): string {
  if (rights.kind === 'full-access') return rights.kind;
  const allowed = rights.kind === 'custom' ? [...rights.allowed].sort().join() : '*';
  const history = rights.history === true ? ':history' : '';
  return `${rights.kind}:${rights.drafts}:${allowed}${history}`;
}

/** Returns the actions that a type's routes have. */
export function actionsOf(type: ContentType): readonly Action[] {
  const isSingle = type.kind === 'singleType';
  return ACTIONS.filter((action) => {
    switch (action) {
      case 'find':
      case 'update':
      case 'delete':
        return true;
      case 'findOne':
      case 'create':
        return !isSingle;
      case 'publish':
      case 'unpublish':
      case 'discardDraft':
        return type.draftAndPublish && !isSingle;
      default:
        return assertNever(action);
    }
  });
}
