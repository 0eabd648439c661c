import type { Database } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import { DELIVERY_SQL } from './delivery-sql.ts';

/** Times of deliveries, in milliseconds since 1970. */
export type DeliveryClock = {
  /** Returns the time of the newest delivery; undefined: there is none. */
  newest(): number | undefined;
  /** Moves all waiting times back by so many milliseconds, because the clock was set back: nothing waits longer. */
  setBack(ms: number): void;
};

/** Reads and moves the times of the deliveries in a file. */
export function openDeliveryClock(db: Database): DeliveryClock {
  return {
    newest() {
      const at = prepared(db, DELIVERY_SQL.newest).get()?.['at'];
      return typeof at === 'number' ? at : undefined;
    },
    setBack(ms) {
      transaction(db, () => {
        prepared(db, DELIVERY_SQL.setBack).run(ms, ms);
        prepared(db, DELIVERY_SQL.setBackPauses).run(ms);
      });
    },
  };
}
