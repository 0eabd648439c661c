import { assertNever } from '../../shared/assert-never.ts';
import {
  type DocumentErased,
  type ErasureEvent,
  type ErasureOrdered,
  erasureStream,
} from '../../shared/erasure/erasure-events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { readStreamState } from '../../shared/event-store/watch-stream.ts';

/** An order to erase a document. `erasedAt`: position of its proof; undefined: the document is not erased yet. */
export type ErasureOrder = ErasureOrdered['data'] & {
  /** Id of its event. */
  readonly id: string;
  readonly at: string;
  readonly position: bigint;
  readonly erasedAt: bigint | undefined;
  /** Number of events whose content was replaced. */
  readonly events: number;
};

/** A proof of an erasure. */
export type Erased = DocumentErased['data'] & { readonly position: bigint };

/** Everything that was ordered and erased. Later states of a log have the same map and list, which grow. */
export type ErasureLedger = {
  /** By the id of the order. */
  readonly orders: ReadonlyMap<string, ErasureOrder>;
  readonly erased: readonly Erased[];
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

type GrowingLedger = ErasureLedger & {
  readonly orders: Map<string, ErasureOrder>;
  readonly erased: Erased[];
};

/** Returns the ledger after an event of its stream. */
export function evolveLedger(ledger: GrowingLedger, stored: StoredEvent): GrowingLedger {
  const { revision, position, id, metadata } = stored;
  const event = stored as unknown as ErasureEvent;
  // A copy for each event would take time with the square of their number.
  const { orders, erased } = ledger;
  switch (event.type) {
    case 'erasure-ordered': {
      const { at } = metadata;
      orders.set(id, { ...event.data, id, at, position, erasedAt: undefined, events: 0 });
      return { orders, erased, revision };
    }
    case 'document-erased': {
      const { order, events } = event.data;
      const known = orders.get(order);
      if (known !== undefined) orders.set(order, { ...known, erasedAt: position, events: events.length });
      erased.push({ ...event.data, position });
      return { orders, erased, revision };
    }
    default:
      return assertNever(event);
  }
}

/** Reads the ledger at the end of the log. */
export function readLedger(log: Pick<EventStore, 'readStream'>, space: string): Promise<GrowingLedger> {
  const none: GrowingLedger = { orders: new Map(), erased: [], revision: undefined };
  return readStreamState(log.readStream(erasureStream(space)), none, evolveLedger);
}
