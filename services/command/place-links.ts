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
 * Orders the connections of an update, so that the neighbour of each slot exists when its turn comes. `linked`: current links, read only
 * when a slot needs them. Adds an error to `late` for a slot whose neighbour is neither linked nor being connected, and for slots that wait
 * for each other.
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
  const byTarget = new Map(connect.map((connection) => [linkKey(connection.target), connection]));
  /** The connection whose target a connection needs. */
  const neededBy = ({ place }: RelationConnection): RelationConnection | undefined =>
    'documentId' in place && !present.has(linkKey(place)) ? byTarget.get(linkKey(place)) : undefined;
  const settle = (connection: RelationConnection): RelationConnection => {
    const { place, target } = connection;
    const exists = !('documentId' in place) || present.has(linkKey(place)) || byTarget.has(linkKey(place));
    if (exists) return connection;
    const freed = freedPlace(linked(), removed, connection);
    if (freed !== undefined) return { target, place: freed };
    if (strict) late.push(notLinked(connection));
    return { target, place: { at: 'end' } };
  };
  const ordered = new Map<RelationConnection, RelationConnection>();
  for (const first of byTarget.values()) {
    const waiting = new Set<RelationConnection>();
    let connection: RelationConnection | undefined = first;
    while (connection !== undefined && !ordered.has(connection) && !waiting.has(connection)) {
      waiting.add(connection);
      connection = neededBy(connection);
    }
    if (connection !== undefined && waiting.has(connection)) late.push(validationError(CIRCLE));
    for (const each of [...waiting].reverse()) ordered.set(each, settle(each));
  }
  return [...ordered.values()];
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
  const list = linked.map(keyed).filter(({ key }) => !removed.has(key));
  for (const { target, place } of orderConnections(input, () => linked, late, notLinked)) {
    const link = keyed(target);
    const present = list.findIndex(({ key }) => key === link.key);
    if (present !== -1) list.splice(present, 1);
    list.splice(slotIn(list, place), 0, link);
  }
  return list.map(({ target }) => target);
}

/** A target with its key, which is compared with many others. */
type KeyedTarget = { readonly key: string; readonly target: LinkTarget };

function keyed(target: LinkTarget): KeyedTarget {
  return { key: linkKey(target), target };
}

/** Returns the index of a slot: the end, if its neighbour is not in the list. */
function slotIn(list: readonly KeyedTarget[], place: LinkPlace): number {
  if (place.at === 'start') return 0;
  if (!('documentId' in place)) return list.length;
  const neighbour = linkKey(place);
  const at = list.findIndex(({ key }) => key === neighbour);
  if (at === -1) return list.length;
  return place.at === 'before' ? at : at + 1;
}
