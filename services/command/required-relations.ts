import type { LinkTarget, RelationOperation } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { RelationAttribute } from '../../shared/schema/content-type.ts';
import { type EntryCheck, isComplete, report } from './check.ts';
import { linkKey } from './resolve-relation.ts';

/**
 * Reports a required relation or file that a body leaves empty. It checks only the body, as Strapi does, so an update that disconnects the
 * last of several links is accepted.
 */
export function checkRequiredRelation(
  check: EntryCheck,
  attribute: RelationAttribute,
  path: string,
  sent: unknown,
): void {
  if (!isRequired(check, attribute) || check.mode === 'publish') return;
  if (check.mode === 'update' && keepsLinks(sent, attribute)) return;
  if (hasLinks(sent)) return;
  report(check, path, `${attribute.name} must be defined.`, Array.isArray(sent) ? { set: [] } : sent);
}

/**
 * Reports a required relation or file of an entry that will be published, if the published row would have no link.
 * `targets` without a published version do not count.
 */
export function checkPublishedRelation(
  check: EntryCheck,
  attribute: RelationAttribute,
  path: string,
  targets: () => readonly LinkTarget[],
): void {
  if (!isRequired(check, attribute)) return;
  const { finder } = check.relations;
  const linked = targets();
  if (linked.some((target) => finder.isPublished(attribute.target, target))) return;
  // Strapi validates the published row in the form in which it is written.
  const value = attribute.toMany || linked.length > 0 ? { set: [] } : null;
  report(check, path, `${attribute.name} must be defined.`, value);
}

/** Returns the targets of an entry's relation after an operation on it. */
export function targetsAfter(
  linked: readonly LinkTarget[],
  operation: RelationOperation | undefined,
): readonly LinkTarget[] {
  if (operation === undefined) return linked;
  if (operation.kind === 'set') return operation.targets;
  const removed = new Set(operation.disconnect.map(linkKey));
  const kept = linked.filter((target) => !removed.has(linkKey(target)));
  return [...kept, ...operation.connect.map(({ target }) => target)];
}

function isRequired(check: EntryCheck, { required }: RelationAttribute): boolean {
  return required && check.relations.strict && isComplete(check);
}

/** Returns whether an update with this value can leave a link: it does not remove all links for certain. */
function keepsLinks(sent: unknown, { toMany }: RelationAttribute): boolean {
  if (sent === undefined) return true;
  if (!isRecord(sent) || isPresent(sent['set'])) return false;
  if (isDisconnectOnly(sent)) return toMany;
  return Array.isArray(sent['connect']) && sent['connect'].length === 0;
}

function hasLinks(sent: unknown): boolean {
  if (!isPresent(sent)) return false;
  if (Array.isArray(sent)) return sent.some(isPresent);
  if (!isRecord(sent)) return true;
  if (isDisconnectOnly(sent)) return false;
  const targets = sent['connect'] ?? sent['set'];
  return !Array.isArray(targets) || targets.length > 0;
}

function isDisconnectOnly({ connect, disconnect, set }: { readonly [key: string]: unknown }): boolean {
  if (isPresent(set) || !isPresent(disconnect)) return false;
  if (Array.isArray(disconnect) && disconnect.length === 0) return false;
  return !isPresent(connect) || (Array.isArray(connect) && connect.length === 0);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
