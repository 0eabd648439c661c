import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { describeEventStore, withLogOf } from './event-store-contract.ts';
import { describeConditions } from './event-store-contract-conditions.ts';

const doubles: KurrentDbDouble[] = [];
beforeAll(async () => {
  doubles.push(await startKurrentDbDouble(), await startKurrentDbDouble({ server: '26.1' }));
});
afterAll(() => {
  for (const double of doubles) double.stop();
});

const logOn = (n: number) => async () => {
  const open = (space: string) => inSpace(openKurrentDbEventStore(String(doubles[n]?.url), { space }), space);
  const [own, other] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
  return {
    open: async () => open(own),
    openNeighbour: async () => open(other),
    remove: async () => undefined,
  };
};

const NAME = 'kurrentdb, on an in-process gRPC test double of the server';
describeEventStore(NAME, logOn(0), {}, { checksConditions: false, neighbour: true });

/** Only these appends of the contract have conditions. All others use the same call on both versions of the server. */
describe(`event store contract: ${NAME} of version 26.1, which has AppendRecords`, () => {
  describeConditions(withLogOf(logOn(1)));
});
