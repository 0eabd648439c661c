import { describe } from 'vitest';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { describeAppending } from './event-store-contract-append.ts';
import { describeConditions } from './event-store-contract-conditions.ts';
import { describeOrder } from './event-store-contract-order.ts';
import { describeReading } from './event-store-contract-read.ts';
import { describeSpaces } from './event-store-contract-spaces.ts';
import { describeSubscribing } from './event-store-contract-subscribe.ts';
import { describeTogether } from './event-store-contract-together.ts';
import {
  type Abilities,
  type ContractSkips,
  newEvents,
  newStream,
  type TestLog,
  type WithLog,
  withNeighbour,
} from './event-store-fixtures.ts';

/**
 * Tests that every adapter of the EventStore port passes. They assume neither dense positions nor a time limit within which a
 * subscriber receives an event. Ids and streams are new in every run, so the log may be on a shared server.
 */
export const describeEventStore = (
  name: string,
  createLog: () => Promise<TestLog>,
  skips: ContractSkips = {},
  abilities: Abilities = {},
): void => {
  const withLog = withLogOf(createLog, abilities);
  describe(`event store contract: ${name}`, () => {
    describeAppending(withLog);
    describeConditions(withLog, abilities.checksConditions);
    describeOrder(withLog);
    describeTogether(withLog, abilities.checksConditions);
    describeReading(withLog, skips);
    describeSubscribing(withLog);
    describeSpaces(withLog);
  });
};

/** Opens a log for each test, and closes it after the test. */
const withLogOf =
  (createLog: () => Promise<TestLog>, abilities: Abilities = {}): WithLog =>
  (body) =>
  async () => {
    const log = await createLog();
    const stores: EventStore[] = [];
    const kept = (store: EventStore) => {
      stores.push(store);
      return store;
    };
    const openNeighbour = async () => kept(await log.openNeighbour());
    const neighbour = abilities.neighbour === true ? await openNeighbour() : undefined;
    const open = async () => {
      const store = kept(await log.open());
      return neighbour === undefined ? store : withNeighbour(store, neighbour);
    };
    try {
      await neighbour?.append(newStream(), 'none', newEvents(3));
      await body(await open(), open, openNeighbour);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await log.remove();
    }
  };
