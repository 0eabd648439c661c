import type { EventStore, StoredEvent } from '../../../shared/event-store/event-store.ts';

/**
 * Wraps a store on a shared server, so that it looks like a separate log. Names of streams get the space's name as a prefix, and reads
 * remove it again.
 */
export const inSpace = (store: EventStore, space: string): EventStore => {
  const outward = (stream: string) => (stream === '' ? '' : `${space}.${stream}`);
  const inward = (event: StoredEvent): StoredEvent => ({
    ...event,
    stream: event.stream.slice(space.length + 1),
  });
  return {
    ...store,
    append: (stream, expected, events, condition) =>
      store.append(
        outward(stream),
        expected,
        events,
        condition && { ...condition, stream: outward(condition.stream) },
      ),
    appendInOrder: (appends, condition) =>
      store.appendInOrder(
        appends.map((append) => ({ ...append, stream: outward(append.stream) })),
        condition && { ...condition, stream: outward(condition.stream) },
      ),
    async appendTogether(appends, condition) {
      const result = await store.appendTogether(
        appends.map((append) => ({ ...append, stream: outward(append.stream) })),
        condition && { ...condition, stream: outward(condition.stream) },
      );
      return result.kind === 'conflict'
        ? { ...result, stream: result.stream.slice(space.length + 1) }
        : result;
    },
    async *readStream(stream, fromRevision) {
      for await (const event of store.readStream(outward(stream), fromRevision)) yield inward(event);
    },
    async *readAll(after, options) {
      for await (const events of store.readAll(after, options)) yield events.map(inward);
    },
    subscribe: (after, handle, { stream, ...options } = {}) =>
      store.subscribe(after, (events, upTo) => handle(events.map(inward), upTo), {
        ...options,
        ...(stream !== undefined && { stream: outward(stream) }),
      }),
  };
};
