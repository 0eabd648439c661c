import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type HeldSocket, holdSocket } from '../../services/supervisor/held-socket.ts';
import { restartDelay } from '../../services/supervisor/restart-delay.ts';

type Refused = { readonly count: () => number };

async function holdForTest(limits: { waiting: number; ms: number }): Promise<[HeldSocket, Refused]> {
  let count = 0;
  const refuse = (connection: Socket) => {
    count++;
    connection.end('refused');
  };
  const held = await holdSocket({ host: '127.0.0.1', port: 0, refuse, limits });
  onTestFinished(() => held.close());
  return [held, { count: () => count }];
}

/** A connection, and what it is sent until its end. */
function connectTo({ address }: HeldSocket): { readonly said: Promise<string> } {
  const socket = connect(address.port, address.address);
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    text += data;
  });
  return { said: once(socket, 'end').then(() => text) };
}

it('gives what waited to the first who serves, and what that one did not accept to the next', async () => {
  const [held] = await holdForTest({ waiting: 10, ms: 60_000 });
  const clients = [connectTo(held), connectTo(held)];
  const first: [number, Socket][] = [];
  const both = Promise.withResolvers<void>();
  held.passTo((id, connection) => {
    first.push([id, connection]);
    if (first.length === 2) both.resolve();
  });
  await both.promise;
  const [[accepted, kept]] = first as [[number, Socket], [number, Socket]];
  kept.end('first');
  await once(kept, 'finish');
  held.accepted(accepted);
  held.passTo(undefined);
  const second: number[] = [];
  held.passTo((id, connection) => {
    second.push(id);
    connection.end('second');
  });
  expect(second).toEqual([first[1]?.[0]]);
  expect((await Promise.all(clients.map(({ said }) => said))).sort()).toEqual(['first', 'second']);
});

it('refuses connections beyond the number that may wait', async () => {
  const [held, refused] = await holdForTest({ waiting: 2, ms: 60_000 });
  const clients = [connectTo(held), connectTo(held), connectTo(held)];
  expect(await Promise.race(clients.map(({ said }) => said))).toBe('refused');
  expect(refused.count()).toBe(1);
});

it('refuses those that have waited for too long, and others at once, until somebody serves again', async () => {
  const [held, refused] = await holdForTest({ waiting: 10, ms: 50 });
  const early = connectTo(held);
  expect(await early.said).toBe('refused');
  expect(await connectTo(held).said).toBe('refused');
  expect(refused.count()).toBe(2);
  held.passTo((_id, connection) => void connection.end('served'));
  expect(await connectTo(held).said).toBe('served');
});

it('starts the next process at once after one crash, and ever more slowly after several', () => {
  expect([1, 2, 3, 4, 5].map(restartDelay)).toEqual([0, 100, 200, 400, 800]);
  expect(restartDelay(1_000)).toBe(10_000);
});
