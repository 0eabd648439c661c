import type { StoredEvent } from '../../shared/event-store/event-store.ts';

/** Watches whether another process changes the content types that this process serves. */
export type TypesWatch = ReturnType<typeof createTypesWatch>;

/**
 * Creates a watch over content types. `differing`: uids of content types that differ from those of this process, after these events.
 * `who` changed them.
 */
export function createTypesWatch(
  who: string,
  differing: (events: readonly StoredEvent[]) => readonly string[],
) {
  const { promise: changed, resolve: close, reject } = Promise.withResolvers<void>();
  changed.catch(() => {});
  return {
    /** Rejects with a message when the content types in force are no longer those of this process. Resolves on close. */
    changed,
    close: () => close(),
    /** Applies the log's events, in order. */
    apply(events: readonly StoredEvent[]): void {
      const types = differing(events);
      if (types.length === 0) return;
      const names = types.join(', ');
      reject(new Error(`${who} changed the content types (${names}): start again with the same folder`));
    },
  };
}
