import type { SynonymGroups } from '../schema/content-type.ts';

/** Event that sets synonyms of searches. A namespace has one stream of them. */
export type SynonymsSet = {
  readonly type: 'synonyms-set';
  readonly data: {
    /** Uid of a content type; `*`: every type. */
    readonly contentType: string;
    /** All groups of that type, by locale. They replace those of an earlier event; none remove them. */
    readonly groups: SynonymGroups;
  };
};

/** Returns whether an event sets synonyms. No row depends on such events. */
export function isSynonymEvent({ type }: { readonly type: string }): boolean {
  return type === ('synonyms-set' satisfies SynonymsSet['type']);
}

/** Returns `<space>.synonyms`, the name of the stream. */
export function synonymStream(space: string): string {
  return `${space}.synonyms`;
}
