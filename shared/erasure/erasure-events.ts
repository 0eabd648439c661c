import type { Uid } from '../schema/content-type.ts';

/**
 * Events about erasures, in one stream of a namespace. `erasure-ordered` says what must be erased. The leader then deletes the document and
 * appends `document-erased`, the proof: it names every event whose content is replaced. Whatever a crash has left undone follows from these.
 */

export type ErasureOrdered = {
  readonly type: 'erasure-ordered';
  readonly data: {
    readonly type: Uid;
    readonly documentId: string;
    /** Why, in the words of the operator; null: not given. */
    readonly reason: string | null;
  };
};

/** An event of the document's stream as it is after the erasure. */
export type ErasedEvent = {
  readonly revision: string;
  readonly id: string;
  /** Digest of the event after the erasure. */
  readonly digest: string;
};

/** All rows of the document are gone. The projector also forgets what the graph knows of its changes. */
export type DocumentErased = {
  readonly type: 'document-erased';
  readonly data: {
    /** Id of the `erasure-ordered`. */
    readonly order: string;
    readonly type: Uid;
    readonly documentId: string;
    readonly events: readonly ErasedEvent[];
  };
};

export type ErasureEvent = ErasureOrdered | DocumentErased;

const ERASURE_EVENTS: ReadonlySet<string> = new Set<ErasureEvent['type']>([
  'erasure-ordered',
  'document-erased',
]);

/** Returns whether an event is about an erasure. */
export function isErasureEvent({ type }: { readonly type: string }): boolean {
  return ERASURE_EVENTS.has(type);
}

/** Returns `<space>.erasures`, the name of the stream of erasures. */
export function erasureStream(space: string): string {
  return `${space}.erasures`;
}
