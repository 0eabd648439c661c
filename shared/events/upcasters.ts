import type { EventContent } from '../event-store/event-codec.ts';
import type { Unreadable } from '../event-store/event-store.ts';
import { EVENT_VERSIONS } from './event-versions.ts';

/** The data of an event of one version in the shape of the next version. */
export type Upcaster = (data: unknown) => unknown;

/** By event type, then by the version that is brought forward; one that is missing has the same shape in the next version. */
export type UpcasterChains = { readonly [type: string]: { readonly [version: number]: Upcaster } };

/** Version 1 had no default locale in definitions; the setting was `en` where nobody said otherwise. */
const CHAINS: UpcasterChains = {
  'content-type-defined': { 1: (data) => ({ ...(data as object), defaultLocale: 'en' }) },
};

/**
 * A function that brings a stored event forward to the version of its type that `versions` names, one version after the other.
 * An event of a type that is not in `versions`, of a newer version, or whose data is no object comes back marked
 * `unreadable`. A current event comes back as it is.
 */
export const createUpcast = (chains: UpcasterChains, versions: Readonly<Record<string, number>>) => {
  const newest = new Map(Object.entries(versions));
  return (stored: EventContent): EventContent => {
    const { type, metadata } = stored;
    const current = newest.get(type);
    const unreadable = judge(stored, current);
    if (unreadable !== undefined) return { ...stored, unreadable };
    if (current === undefined || metadata.schemaVersion === current) return stored;
    let { data } = stored;
    for (let version = metadata.schemaVersion; version < current; version += 1) {
      const toNext = chains[type]?.[version];
      if (toNext !== undefined) data = toNext(data);
    }
    return { type, data, metadata: { ...metadata, schemaVersion: current } };
  };
};

/** A stored event in the shapes of today. */
export const upcast = createUpcast(CHAINS, EVENT_VERSIONS);

function judge({ type, data, metadata }: EventContent, current: number | undefined): Unreadable | undefined {
  const byNewer = 'a newer version of Varve wrote it';
  if (current === undefined) {
    return {
      kind: 'unknown-type',
      reason: `"${type}" is a type of event that this program does not know: ${byNewer}`,
    };
  }
  const version = metadata.schemaVersion;
  if (version > current) {
    const reason = `it is a "${type}" of version ${version}, and this program knows versions up to ${current}: ${byNewer}`;
    return { kind: 'newer-version', reason };
  }
  if (typeof data === 'object' && data !== null) return undefined;
  return { kind: 'damaged', reason: `the data of this "${type}" is no JSON object` };
}
