import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { startFleet, type TestFleet } from '../support/fleet.ts';

/** A process of a newer release writes while the older processes write too. */
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  await fleet.leader();
});
afterAll(() => fleet.dispose());

it('answers every write in flight with its result: 201, 202 or 503', async () => {
  const headers = { 'content-type': 'application/json' };
  const create = async (n: number): Promise<number> => {
    const { url } = (fleet.members[n % 2] ?? fleet.members[0])?.server() ?? { url: '' };
    const body = JSON.stringify({ data: { key: `k${n}` } });
    return (await fetch(`${url}/api/tags`, { method: 'POST', headers, body })).status;
  };
  const statuses: Promise<number>[] = [];
  for (let n = 0; n < 100; n++) statuses.push(create(n));
  await Promise.race(statuses);
  const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space: 'varve' });
  const metadata = { schemaVersion: 1, at: new Date().toISOString(), epoch: 1 };
  const newer = { id: randomUUID(), type: 'entry-archived', data: {}, metadata };
  await log.append('varve.api_tag_tag-newer', 'any', [newer]);
  for (let n = 100; n < 200; n++) statuses.push(create(n));
  const answers = await Promise.all(statuses);
  expect(answers.filter((status) => ![201, 202, 503].includes(status))).toEqual([]);
  expect(answers).toContain(201);
  expect(answers.at(-1)).toBe(503);

  const keys: string[] = [];
  for await (const events of log.readAll(0n)) {
    for (const { type, data } of events)
      if (type === 'entry-created') keys.push((data as { values: { key: string } }).values.key);
  }
  await log.close();
  expect(new Set(keys).size).toBe(keys.length);
  for (const [n, status] of answers.entries()) if (status < 300) expect(keys).toContain(`k${n}`);
  for (const member of fleet.members) expect(member.server().output()).not.toContain('"level":60');
});
