import { assertNever } from '../assert-never.ts';
import type { ContentType, Uid } from '../schema/content-type.ts';

/** What can be done with a content type, in Strapi's words. `find` of a type is also needed to reach it from another one. */
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

/** What a caller may do. `drafts`: see unpublished entries and what is known of their publication. */
export type Rights =
  | { readonly kind: 'full-access' }
  | { readonly kind: 'read-only'; readonly drafts: boolean }
  | { readonly kind: 'custom'; readonly allowed: ReadonlySet<Right>; readonly drafts: boolean };

export const FULL_ACCESS: Rights = Object.freeze({ kind: 'full-access' });
export const NO_RIGHTS: Rights = Object.freeze({ kind: 'custom', allowed: new Set<Right>(), drafts: false });

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

/** Actions that are answered with the draft: who may not see drafts has nothing of them. */
export function showsDraft(action: Action): boolean {
  return action === 'unpublish' || action === 'discardDraft';
}

/** Whether the type may be listed, and reached by filters, sorts and `populate` from types that have relations to it. */
export function mayFind(rights: Rights, type: Uid): boolean {
  return may(rights, type, 'find');
}

export function mayReadDrafts(rights: Rights): boolean {
  return rights.kind === 'full-access' || rights.drafts;
}

export function mayAnything(rights: Rights): boolean {
  return rights.kind !== 'custom' || rights.allowed.size > 0;
}

/** Tokens and public rights are managed by callers that may do everything anyway. */
export function mayAdminister(rights: Rights): boolean {
  return rights.kind === 'full-access';
}

/** Equal for equal rights. */
export function rightsKey(rights: Rights): string {
  if (rights.kind === 'full-access') return rights.kind;
  const allowed = rights.kind === 'custom' ? [...rights.allowed].sort().join() : '*';
  return `${rights.kind}:${rights.drafts}:${allowed}`;
}

/** The actions that a type's routes have. */
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
