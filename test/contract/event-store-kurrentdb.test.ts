import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { findRealServer, type RealServer } from '../support/kurrentdb/real-server.ts';
import { describeEventStore } from './event-store-contract.ts';

const NAME = 'kurrentdb, on a real server';
const NEITHER = 'needs VARVE_TEST_KURRENTDB=URL|docker (test/README.md); the gRPC double replaces the server';
const TOO_LARGE = 'a KurrentDB server takes 1 MB in one append, 16 MB at most';

const startServer = findRealServer();
if (startServer === undefined) {
  describe(`event store contract: ${NAME}`, { skip: true, meta: { skipReason: NEITHER } }, () => {
    test('all of it', () => undefined);
  });
} else {
  let server: RealServer;
  beforeAll(async () => {
    server = await startServer();
  }, 180_000);
  afterAll(() => server.stop());

  // Every log is a new namespace, so the server can be shared and nothing must be deleted.
  const createLog = async () => {
    const open = (space: string) => inSpace(openKurrentDbEventStore(server.url, { space }), space);
    const [own, other] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
    return {
      open: async () => open(own),
      openNeighbour: async () => open(other),
      remove: async () => undefined,
    };
  };
  describeEventStore(NAME, createLog, { largeAppends: TOO_LARGE }, { checksConditions: 'of its version' });
}
