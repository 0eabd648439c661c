import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type GenerationStore, openGenerationStore } from '../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { NOT_LEADING } from '../../services/read-side/outside-generation.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { announceDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { runVarve } from '../support/run-varve.ts';

const LATE = 'generation 2 is not served: no process became the leader within 28 s';

/** Cancels a rebuild, as a worker does whose switch has failed. */
function failSwitch(store: GenerationStore, reason: string): void {
  const { id, generation } = store.begin({ graph: true }, '2026-11-30T00:00:00.000Z');
  store.forget(generation);
  store.enter(id, 'cancelled', reason);
}

/** Starts a server whose worker ends each time before it has answered. `reasons`: those that it records, one for each attempt. */
async function startLosingServer(reasons: readonly string[]) {
  const data = dataForTest();
  await openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast }).close();
  openContentGraph(graphFile(data, 1)).close();
  const store = openGenerationStore(data);
  onTestFinished(store.close);
  let attempts = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.endsWith('/rebuild') !== true) return response.end('{"done":true}\n');
    failSwitch(store, reasons[attempts++] ?? 'one attempt too many');
    return response.end('{"stopping":"the server is stopping"}\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lock = announceDataDirectory(data, { address, secret: 's', pid: process.pid });
  onTestFinished(lock.release);
  return { data, attempts: () => attempts };
}

it('a rebuild whose switch failed ends with the reason, although its server ended before it said so', async () => {
  const { data, attempts } = await startLosingServer([LATE]);
  const { code, stderr } = await runVarve(['rebuild', '--graph', '--data', data]);
  expect({ code, stderr, attempts: attempts() }).toMatchObject({ code: 1, attempts: 1 });
  expect(stderr).toContain(LATE);
});

it('a rebuild whose server ended because it had lost the lease is asked for again', async () => {
  const { data, attempts } = await startLosingServer([NOT_LEADING, LATE]);
  const { code } = await runVarve(['rebuild', '--graph', '--data', data]);
  expect({ code, attempts: attempts() }).toEqual({ code: 1, attempts: 2 });
});
