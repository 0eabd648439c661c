import { describe } from 'vitest';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { describeAppending } from './event-store-contract-append.ts';
import { describeConditions } from './event-store-contract-conditions.ts';
import { describeReading } from './event-store-contract-read.ts';
import { describeSubscribing } from './event-store-contract-subscribe.ts';
import type { Abilities, ContractSkips, TestLog, WithLog } from './event-store-fixtures.ts';

/**
 * What every adapter of the EventStore port holds to. It assumes neither dense positions nor that a subscriber hears of an
 * event in any given time, and its ids and streams are new in every run, so that a log may live on a shared server.
 */
export const describeEventStore = (
  name: string,
  createLog: () => Promise<TestLog>,
  skips: ContractSkips = {},
  abilities: Abilities = {},
): void => {
  const withLog = withLogOf(createLog);
  describe(`event store contract: ${name}`, () => {
    describeAppending(withLog);
    describeConditions(withLog, abilities.checksConditions);
    describeReading(withLog, skips);
    describeSubscribing(withLog);
  });
};

/** Opens a log for each test, and closes it behind the test. */
export const withLogOf =
  (createLog: () => Promise<TestLog>): WithLog =>
  (body) =>
  async () => {
    const log = await createLog();
    const stores: EventStore[] = [];
    const open = async () => {
      const store = await log.open();
      stores.push(store);
      return store;
    };
    try {
      await body(await open(), open);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await log.remove();
    }
  };
