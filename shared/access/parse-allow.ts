import type { ContentType } from '../schema/content-type.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import { type Action, actionsOf, type Right } from './rights.ts';

export type ParsedAllow =
  | { readonly kind: 'allowed'; readonly allowed: readonly Right[] }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/**
 * Parses `restaurant.find,chef.*` into rights. A part names a type by its singular name or its uid; `*` means all actions of the type.
 * Empty text gives no right. A part that cannot be parsed is a problem.
 */
export function parseAllow(text: string, registry: SchemaRegistry): ParsedAllow {
  const allowed = new Set<Right>();
  const problems: string[] = [];
  const parts = text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
  for (const part of parts) {
    const rights = parsePart(part, registry);
    if (typeof rights === 'string') problems.push(rights);
    else for (const right of rights) allowed.add(right);
  }
  return problems.length > 0
    ? { kind: 'problems', problems }
    : { kind: 'allowed', allowed: [...allowed].sort() };
}

/** Returns `restaurant.find` for `api::restaurant.restaurant.find`; the right itself if the type no longer exists. */
export function shortRight(right: Right, registry: SchemaRegistry): string {
  const [uid, action] = splitRight(right);
  const type = registry.contentTypes.get(uid);
  return type === undefined ? right : `${type.singularName}.${action}`;
}

function parsePart(part: string, registry: SchemaRegistry): readonly Right[] | string {
  const [name, action] = splitRight(part);
  if (name === '' || action === '') return `"${part}" is not a right such as restaurant.find`;
  const type = findType(name, registry);
  if (type === undefined) return `"${part}": there is no content type ${name}, only ${typeNames(registry)}`;
  const actions = actionsOf(type);
  if (action === '*') return actions.map((each): Right => `${type.uid}.${each}`);
  if ((actions as readonly string[]).includes(action)) return [`${type.uid}.${action as Action}`];
  return `"${part}": ${type.singularName} has no action ${action}, only ${actions.join(', ')}`;
}

function splitRight(text: string): readonly [name: string, action: string] {
  const dot = text.lastIndexOf('.');
  return dot === -1 ? ['', ''] : [text.slice(0, dot), text.slice(dot + 1)];
}

function findType(name: string, registry: SchemaRegistry): ContentType | undefined {
  const { contentTypes } = registry;
  return contentTypes.get(name) ?? [...contentTypes.values()].find((type) => type.singularName === name);
}

function typeNames(registry: SchemaRegistry): string {
  return [...registry.contentTypes.values()].map((type) => type.singularName).join(', ');
}
