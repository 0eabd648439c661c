import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { SocketHandle } from '../../../services/http/sockets/private-node.ts';
import { shareConnections } from '../../../services/supervisor/share-connections.ts';
import { createMemoryWorker } from '../../support/memory-worker.ts';

/** Largest number of connections that wait for a worker. */
const MOST_WAITING = 1_024;
const MORE = 6;
const HOST = '127.0.0.1';

it('closes connections that nobody can take, and hands the others to a worker one at a time', async () => {
  const shared = await shareConnections({ host: HOST, port: 0 });
  onTestFinished(shared.close);
  let closed = 0;
  const allClosed = Promise.withResolvers<void>();
  const clients = Array.from({ length: MOST_WAITING + MORE }, () =>
    connect({ host: HOST, port: shared.address.port }).on('error', () => {}),
  );
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });
  for (const client of clients) client.resume().once('end', () => ++closed === MORE && allClosed.resolve());
  await Promise.all(clients.map((client) => once(client, 'connect')));
  await allClosed.promise;
  const handles: SocketHandle[] = [];
  const worker = {
    ...createMemoryWorker(),
    send: (_message: unknown, handle?: SocketHandle) => void (handle && handles.push(handle)),
  };
  shared.add(worker);
  expect(handles).toHaveLength(1);
  for (let n = 1; n < MOST_WAITING; n++) shared.took(worker);
  expect(handles).toHaveLength(MOST_WAITING);
  shared.took(worker);
  expect([handles.length, closed]).toEqual([MOST_WAITING, MORE]);
});
