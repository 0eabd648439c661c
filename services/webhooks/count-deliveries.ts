import type { Database } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { DELIVERY_SQL } from './delivery-sql.ts';

/** `waiting`: not sent yet, or to be repeated. `parked`: not sent until a replay. `elsewhere`: delivered by another process. */
export type DeliveryState = 'waiting' | 'delivered' | 'parked' | 'elsewhere';

/** Numbers of unfinished deliveries. `oldest`: when the first waiting delivery was made, in milliseconds since 1970. */
export type Backlog = {
  readonly waiting: number;
  readonly parked: number;
  readonly oldest: number | undefined;
};

/** Counts the stored deliveries of a webhook by state. */
export function countStates(db: Database, hook: string): Record<DeliveryState, number> {
  const counts = { waiting: 0, delivered: 0, parked: 0, elsewhere: 0 };
  const rows = prepared(db, 'SELECT state, count(*) AS n FROM deliveries WHERE hook = ? GROUP BY state').all(
    hook,
  );
  for (const { state, n } of rows) counts[state as DeliveryState] = Number(n);
  return counts;
}

/** Counts the deliveries of all webhooks that are not done. */
export function countOpen(db: Database): Backlog {
  const rows = prepared(db, DELIVERY_SQL.counts).all();
  const of = (state: DeliveryState) => Number(rows.find((row) => row['state'] === state)?.['n'] ?? 0);
  const oldest = prepared(db, DELIVERY_SQL.oldest).get()?.['at'];
  return {
    waiting: of('waiting'),
    parked: of('parked'),
    oldest: typeof oldest === 'number' ? oldest : undefined,
  };
}
