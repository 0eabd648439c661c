import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { describeEventStore } from './event-store-contract.ts';

let double: KurrentDbDouble;
beforeAll(async () => {
  double = await startKurrentDbDouble();
});
afterAll(() => double.stop());

describeEventStore(
  'kurrentdb, on an in-process gRPC test double that stands in for the server',
  async () => {
    const space = `test-${randomUUID()}`;
    return {
      open: async () => inSpace(openKurrentDbEventStore(double.url, { space }), space),
      remove: async () => undefined,
    };
  },
  {},
  { checksConditions: false },
);
