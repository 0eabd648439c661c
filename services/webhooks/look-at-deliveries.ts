import { join } from 'node:path';
import { lookAtDatabase } from '../../shared/sqlite/look-at-database.ts';
import { requireCurrentSchema } from '../../shared/sqlite/migrate.ts';
import { DELIVERY_MIGRATIONS } from './delivery-sql.ts';
import { type DeliveryStore, deliveryStore, WEBHOOKS_FILE } from './delivery-store.ts';

/** Opens `webhooks.db` in a folder for reading, and changes nothing. Throws if it is missing or has the format of an earlier release. */
export function lookAtDeliveries(folder: string): DeliveryStore {
  const file = join(folder, WEBHOOKS_FILE);
  const { connection, close } = lookAtDatabase(file);
  requireCurrentSchema(file, connection, DELIVERY_MIGRATIONS.length);
  return deliveryStore(connection, close);
}
