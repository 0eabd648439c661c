import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeEventStore } from './event-store-contract.ts';

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
describe('an older server', takesMinutes('the contract on version 24.2 of KurrentDB'), () => {
  describeEventStore(`${NAME}, version 24.2`, logOn(0), {}, { checksConditions: false, neighbour: true });
});
describeEventStore(`${NAME}, version 26.1`, logOn(1), {}, { checksConditions: true, neighbour: true });
