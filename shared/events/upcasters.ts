import type { EventContent } from '../event-store/event-codec.ts';
import type { Unreadable } from '../event-store/event-store.ts';
import { EVENT_VERSIONS } from './event-versions.ts';

/** Converts the data of an event from one version to the shape of the next version. */
export type Upcaster = (data: unknown) => unknown;

/** Upcasters by event type, then by the version they convert from. Without an upcaster the next version has the same shape. */
export type UpcasterChains = { readonly [type: string]: { readonly [version: number]: Upcaster } };

/** Definitions of version 1 had no default locale. It was `en` unless configured otherwise. Earlier rights did not include history. */
const CHAINS: UpcasterChains = {
  'content-type-defined': { 1: (data) => ({ ...(data as object), defaultLocale: 'en' }) },
  'token-created': { 2: withoutHistory },
  'role-defined': { 1: withoutHistory },
};

/**
 * Creates a function that upcasts a stored event to the version of its type in `versions`, one version at a time. It marks an event as
 * `unreadable` if its type is missing in `versions`, its version is newer, or its data is not an object. It returns a current event
 * unchanged.
 */
export function createUpcast(chains: UpcasterChains, versions: Readonly<Record<string, number>>) {
  const newest = new Map(Object.entries(versions));
  return (stored: EventContent): EventContent => {
    const { type, metadata } = stored;
    const current = newest.get(type);
    const unreadable = unreadableReason(stored, current);
    if (unreadable !== undefined) return { ...stored, unreadable };
    if (current === undefined || metadata.schemaVersion === current) return stored;
    let { data } = stored;
    for (let version = metadata.schemaVersion; version < current; version += 1) {
      const toNext = chains[type]?.[version];
      if (toNext !== undefined) data = toNext(data);
    }
    return { type, data, metadata: { ...metadata, schemaVersion: current } };
  };
}

/** Rights of events from before there was a right to see earlier versions. */
function withoutHistory(data: unknown): unknown {
  return { ...(data as object), history: false };
}

/** Converts a stored event to the current shapes. */
export const upcast = createUpcast(CHAINS, EVENT_VERSIONS);

function unreadableReason(
  { type, data, metadata }: EventContent,
  current: number | undefined,
): Unreadable | undefined {
  const byNewer = 'a newer version of Varve wrote it';
  if (current === undefined) {
    return {
      kind: 'unknown-type',
      reason: `"${type}" is an unknown type of event: ${byNewer}`,
    };
  }
  const version = metadata.schemaVersion;
  if (version > current) {
    const reason = `it is a "${type}" of version ${version}, and this program knows versions up to ${current}: ${byNewer}`;
    return { kind: 'newer-version', reason };
  }
  if (typeof data === 'object' && data !== null) return undefined;
  return { kind: 'damaged', reason: `the data of this "${type}" is not a JSON object` };
}
