import type { LinkPlace, LinkTarget } from '../../shared/document/events.ts';
import type { RequestError } from '../../shared/request-error.ts';
import { validationError } from './problem.ts';
import { linkKey, type RelationConnection, type RelationInput } from './resolve-relation.ts';

type Update = RelationInput & { readonly kind: 'update' };
const CIRCLE =
  'A circular reference was found in the connect array. One relation is trying to connect before/after another one that is trying to connect before/after it';
/** Error for a slot next to a target that is not linked. */
type NotLinked = (connection: RelationConnection) => RequestError;

/**
 * Orders the connections of an update, so that the neighbour of each slot exists when its turn comes. `linked`: current
 * links, read only when a slot needs them. Adds an error to `late` for a slot next to a target that is neither linked nor
 * being connected, and for slots that wait for each other.
 */
export function orderConnections(
  { connect, disconnect, strict }: Update,
  linked: () => readonly LinkTarget[],
  late: RequestError[],
  notLinked: NotLinked,
): RelationConnection[] {
  if (connect.every(({ place }) => place.at === 'start' || place.at === 'end')) return [...connect];
  const removed = new Set(disconnect.map(linkKey));
  const present = new Set(
    linked()
      .map(linkKey)
      .filter((key) => !removed.has(key)),
  );
  const pending = new Map(connect.map((connection) => [linkKey(connection.target), connection]));
  const ordered: RelationConnection[] = [];
  const visiting = new Set<string>();
  const visit = (key: string, connection: RelationConnection) => {
    if (!pending.has(key)) return;
    if (visiting.has(key)) {
      late.push(validationError(CIRCLE));
      return;
    }
    visiting.add(key);
    ordered.push(settle(connection));
    pending.delete(key);
  };
  const settle = (connection: RelationConnection): RelationConnection => {
    const { place, target } = connection;
    if (place.at === 'start' || place.at === 'end') return connection;
    const neighbour = linkKey(place);
    if (present.has(neighbour)) return connection;
    const other = pending.get(neighbour);
    if (other !== undefined) visit(neighbour, other);
    else if (!ordered.some((done) => linkKey(done.target) === neighbour)) {
      const freed = freedPlace(linked(), removed, connection);
      if (freed !== undefined) return { target, place: freed };
      if (strict) late.push(notLinked(connection));
      return { target, place: { at: 'end' } };
    }
    return connection;
  };
  for (const [key, connection] of [...pending]) visit(key, connection);
  return ordered;
}

/** Returns the slot of a neighbour that the same update disconnects. The connection takes its slot, as in Strapi. */
function freedPlace(
  linked: readonly LinkTarget[],
  removed: ReadonlySet<string>,
  { target, place }: RelationConnection,
): LinkPlace | undefined {
  if (!('documentId' in place)) return undefined;
  const at = linked.findIndex((other) => linkKey(other) === linkKey(place));
  if (at === -1) return undefined;
  const next = linked
    .slice(at + 1)
    .find((other) => !removed.has(linkKey(other)) && linkKey(other) !== linkKey(target));
  return next === undefined ? { at: 'end' } : { at: 'before', ...next };
}

/** Returns the targets of a component's relation after `input`. Links inside a component are part of its value. */
export function applyRelation(
  linked: readonly LinkTarget[],
  input: RelationInput,
  late: RequestError[],
  notLinked: NotLinked,
): readonly LinkTarget[] {
  if (input.kind === 'set') return input.targets;
  const removed = new Set(input.disconnect.map(linkKey));
  const targets = linked.filter((target) => !removed.has(linkKey(target)));
  for (const { target, place } of orderConnections(input, () => linked, late, notLinked)) {
    const present = targets.findIndex((other) => linkKey(other) === linkKey(target));
    if (present !== -1) targets.splice(present, 1);
    const neighbour =
      'documentId' in place ? targets.findIndex((other) => linkKey(other) === linkKey(place)) : -1;
    if (place.at === 'start') targets.unshift(target);
    else if (neighbour === -1) targets.push(target);
    else targets.splice(place.at === 'before' ? neighbour : neighbour + 1, 0, target);
  }
  return targets;
}
