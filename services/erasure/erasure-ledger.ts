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

/** Everything that was ordered and erased. */
export type ErasureLedger = {
  /** By the id of the order. */
  readonly orders: ReadonlyMap<string, ErasureOrder>;
  readonly erased: readonly Erased[];
  /** Revision of the stream; undefined if it does not exist. */
  readonly revision: bigint | undefined;
};

const NO_ERASURES: ErasureLedger = { orders: new Map(), erased: [], revision: undefined };

/** Returns the ledger after an event of its stream. */
export function evolveLedger(ledger: ErasureLedger, stored: StoredEvent): ErasureLedger {
  const { revision, position, id, metadata } = stored;
  const event = stored as unknown as ErasureEvent;
  const orders = new Map(ledger.orders);
  switch (event.type) {
    case 'erasure-ordered': {
      const { at } = metadata;
      orders.set(id, { ...event.data, id, at, position, erasedAt: undefined, events: 0 });
      return { ...ledger, orders, revision };
    }
    case 'document-erased': {
      const { order, events } = event.data;
      const known = orders.get(order);
      if (known !== undefined) orders.set(order, { ...known, erasedAt: position, events: events.length });
      return { orders, erased: [...ledger.erased, { ...event.data, position }], revision };
    }
    default:
      return assertNever(event);
  }
}

/** Reads the ledger at the end of the log. */
export function readLedger(log: EventStore, space: string): Promise<ErasureLedger> {
  return readStreamState(log.readStream(erasureStream(space)), NO_ERASURES, evolveLedger);
}
