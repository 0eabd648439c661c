import { expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../shared/event-store/kurrentdb/kurrentdb-address.ts';
import { createNodeChannel } from '../../shared/event-store/kurrentdb/kurrentdb-channel.ts';
import { LeaderMoved } from '../../shared/event-store/kurrentdb/kurrentdb-failure.ts';

test('a leader whose name cannot be used is tried once, and then the nodes are asked', async () => {
  const [first, leader] = [
    { address: 'db1', port: 2113 },
    { address: 'db2', port: 2113 },
  ];
  const gossip = { members: () => [], nodes: () => [first], leaderSeenBy: async () => leader };
  const address = parseAddress('kurrentdb://varve:secret@db1:2113,db2:2113');
  const channel = createNodeChannel(address, { gossip, searching: () => undefined });
  onTestFinished(channel.close);
  const opened = await channel.current();
  expect(opened.getTarget()).toMatch(/db2:2113$/);
  // TLS has no names for IP addresses.
  channel.lost(opened, new LeaderMoved(1_000, { address: '10.0.0.3', port: 2113 }));
  await expect(channel.current()).rejects.toThrow(/10\.0\.0\.3/);
  expect((await channel.current()).getTarget()).toMatch(/db2:2113$/);
});
