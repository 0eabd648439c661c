import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  DELIVERY_INDEX,
  DELIVERY_MIGRATIONS,
  DELIVERY_SQL,
} from '../../../services/webhooks/delivery-sql.ts';
import { openDatabase } from '../../../shared/sqlite/open-database.ts';

/** Returns SQLite's query plan of a statement. */
function planOf(statement: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'varve-plans-'));
  const db = openDatabase(join(folder, 'webhooks.db'), {
    durability: 'none',
    migrations: DELIVERY_MIGRATIONS,
    afterMigrations: DELIVERY_INDEX,
  });
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const values = Array.from(statement.matchAll(/\?/g), () => 1);
  return db
    .prepare(`EXPLAIN QUERY PLAN ${statement}`)
    .all(...values)
    .map(({ detail }) => String(detail));
}

// A statement that reads columns after the body would read all pages of the body for every waiting delivery.
it.each([
  ['park', ['SCAN held USING COVERING INDEX', 'SEARCH later EXISTS USING COVERING INDEX']],
  ['oldest', ['SEARCH deliveries USING COVERING INDEX']],
  ['counts', ['SEARCH deliveries USING COVERING INDEX']],
  ['due', ['SEARCH deliveries USING COVERING INDEX deliveries_without_body (hook=?)']],
] as const)('the statement %s reads no body of a delivery', (name, expected) => {
  const plan = planOf(DELIVERY_SQL[name]);
  for (const each of expected)
    expect(
      plan.some((detail) => detail.startsWith(each)),
      `${each} in ${plan.join('; ')}`,
    ).toBe(true);
});

it.each(['due', 'open'] as const)('the statement %s returns no body', (name) => {
  expect(DELIVERY_SQL[name].split('FROM')[0]).not.toContain('body');
});

it('a release before the index opens the file, and this one has the index again afterwards', () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-plans-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'webhooks.db');
  const options = { durability: 'none', migrations: DELIVERY_MIGRATIONS } as const;
  const earlier = openDatabase(file, options);
  const indices = () =>
    earlier.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%w%'");
  expect(indices().all()).toMatchObject([{ name: 'waiting_deliveries' }]);
  openDatabase(file, { ...options, afterMigrations: DELIVERY_INDEX }).close();
  expect(indices().all()).toMatchObject([{ name: 'deliveries_without_body' }]);
  openDatabase(file, options).close();
  earlier.close();
});
