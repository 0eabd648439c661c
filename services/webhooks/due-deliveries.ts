import type { DeliveryStore, StoredDelivery } from './delivery-store.ts';

/** Deliveries of a webhook that are read together. One read looks at all deliveries that wait. */
const READ_AT_ONCE = 500;

/** Ids of deliveries whose requests are on their way. */
type Flying = { has(id: string): boolean };

/** Creates a reader of due deliveries. It keeps a list for each webhook, and reads the next one when the list is used up. */
export function createDueDeliveries(store: Pick<DeliveryStore, 'due' | 'find'>, flying: Flying) {
  const lists = new Map<string, ReturnType<DeliveryStore['due']>>();
  const takeKnown = (hook: string, now: number, most: number): readonly StoredDelivery[] => {
    const list = lists.get(hook) ?? [];
    const taken: StoredDelivery[] = [];
    while (taken.length < most) {
      const next = list.shift();
      if (next === undefined) break;
      if (flying.has(next.id)) continue;
      // The delivery may have changed after the list was read.
      const delivery = store.find(next.id);
      const isDue = delivery?.state === 'waiting' && delivery.seq === next.seq && delivery.nextAt <= now;
      if (isDue) taken.push(delivery);
    }
    return taken;
  };
  return {
    /** Returns at most `most` deliveries of a webhook, in order. They are fewer than are due at the end of a list. */
    take(hook: string, now: number, most: number): readonly StoredDelivery[] {
      const taken = takeKnown(hook, now, most);
      if (taken.length > 0) return taken;
      lists.set(hook, store.due(hook, now, READ_AT_ONCE));
      return takeKnown(hook, now, most);
    },
    /** Forgets the lists, so that retries that became due since then are found. */
    forget: () => lists.clear(),
  };
}
