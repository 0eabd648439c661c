import type { EventContent } from '../event-store/event-codec.ts';
import { EVENT_SCHEMA_VERSION } from './events.ts';

/** The data of an event of one version in the shape of the next version. */
export type Upcaster = (data: unknown) => unknown;

/** By schema version, then by event type; a type that is missing has the same shape in the next version. */
export type UpcasterChain = { readonly [version: number]: { readonly [type: string]: Upcaster } };

/** Version 1 had no default locale in definitions; the setting was `en` where nobody said otherwise. */
const CHAIN: UpcasterChain = {
  1: { 'content-type-defined': (data) => ({ ...(data as object), defaultLocale: 'en' }) },
};

/**
 * A function that brings a stored event forward to schema version `current`, one version after the other. It throws when the
 * event is of a newer version, or of one that never was. A current event comes back as it is.
 */
export const createUpcast =
  (chain: UpcasterChain, current: number) =>
  (stored: EventContent): EventContent => {
    const { schemaVersion } = stored.metadata;
    if (schemaVersion === current) return stored;
    refuseUnknownVersion(stored.type, schemaVersion, current);
    let { data } = stored;
    for (let version = schemaVersion; version < current; version += 1) {
      const toNext = chain[version]?.[stored.type];
      if (toNext !== undefined) data = toNext(data);
    }
    return { type: stored.type, data, metadata: { ...stored.metadata, schemaVersion: current } };
  };

/** A stored event in the shapes of shared/document/events.ts. */
export const upcast = createUpcast(CHAIN, EVENT_SCHEMA_VERSION);

const refuseUnknownVersion = (type: string, version: number, current: number): void => {
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new Error(`the "${type}" event has no known schema version: ${String(version)}`);
  }
  if (version > current) {
    throw new Error(
      `the "${type}" event has schema version ${version}, this program knows versions up to ${current}: it was written by a newer version of Varve`,
    );
  }
};
