import { setTimeout as delay } from 'node:timers/promises';
import { Channel } from '@grpc/grpc-js';
import { type Backoff, backoffMs } from '../../backoff.ts';
import { type Address, assertTlsName, type EndPoint } from './kurrentdb-address.ts';
import { leaderNamedBy } from './kurrentdb-failure.ts';
import type { Gossip } from './kurrentdb-gossip.ts';
import { watchCalls } from './kurrentdb-watch-calls.ts';

/** The only connection of a client. It is opened when it is first needed, and again when its node is lost. */
export type NodeChannel = ReturnType<typeof createNodeChannel>;

/** Pauses between channels that were lost soon after they were made. */
const PACE: Backoff = { firstMs: 50, longestMs: 1_000 };
/** A channel that lasted this long was healthy. After it, pauses start again at the shortest. */
const STABLE_MS = 10_000;

/** Maximum bytes of a message, which the client also sets. The largest event that a server can store is below 17 MB. */
const MAX_MESSAGE = 17 * 1024 * 1024;

/**
 * Replaces the channel management of the client (1.3.1), so that it can be ended. The client's own discovery cannot be stopped. It rejects
 * where no caller can handle the error (see the list in kurrentdb-client.ts). It never leaves a channel whose node has stopped answering.
 * This one calls `searching` when no node answers for the first time. It closes a lost channel at once; calls in flight on it end with
 * their answer or their deadline.
 */
export function createNodeChannel(address: Address, { gossip, searching }: Omit<Search, 'signal'>) {
  const closing = new AbortController();
  let current: Promise<Channel> | undefined;
  let open: Channel | undefined;
  let leader: EndPoint | undefined;
  let losses = 0;
  let openedAt = Number.NEGATIVE_INFINITY;
  const endPoints = new WeakMap<Channel, EndPoint>();

  const find = async (): Promise<Channel> => {
    const wait = openedAt + (losses === 0 ? 0 : backoffMs(losses, PACE)) - performance.now();
    if (wait > 0) await delay(wait, undefined, { signal: closing.signal });
    const search = { gossip, searching, signal: closing.signal };
    // Each name of a leader is tried once: it may be dead, or an address that cannot be used.
    const named = leader;
    leader = undefined;
    const endPoint = named ?? (await findNode(address, search));
    if (address.tls) assertTlsName(endPoint.address);
    closing.signal.throwIfAborted();
    openedAt = performance.now();
    open = openChannel(address, endPoint);
    endPoints.set(open, endPoint);
    return open;
  };
  const lost = (channel: Channel, error: unknown): void => {
    if (channel !== open) return;
    open = undefined;
    current = undefined;
    losses = performance.now() - openedAt > STABLE_MS ? 1 : losses + 1;
    leader = leaderNamedBy(error);
    channel.close();
  };
  const calls = watchCalls(address, { gossip, endPointOf: (on) => endPoints.get(on), leave: lost });
  return {
    /** Returns the channel for the next call. Rejects if discovery gave up or the channel was closed permanently. */
    current(): Promise<Channel> {
      if (current === undefined) {
        const finding = find();
        current = finding;
        finding.catch(() => {
          if (current === finding) current = undefined;
        });
      }
      return current;
    },
    /** Reports a failure of a call on this channel that another node may not have. The next call gets another channel. */
    lost,
    /** Watches a call on a channel. It ends with an error if its node is silent and another node is the leader. */
    watch: calls.enter,
    close(): void {
      closing.abort(new Error('the event store is closed'));
      calls.close();
      open?.close();
      open = undefined;
    },
  };
}

function openChannel(
  { channelCredentials, keepAliveIntervalMs, keepAliveTimeoutMs }: Address,
  { address, port }: EndPoint,
): Channel {
  const milliseconds = (given: number) => (given < 0 ? Number.MAX_SAFE_INTEGER : given);
  return new Channel(`${address}:${port}`, channelCredentials, {
    'grpc.keepalive_time_ms': milliseconds(keepAliveIntervalMs),
    'grpc.keepalive_timeout_ms': milliseconds(keepAliveTimeoutMs),
    'grpc.max_receive_message_length': MAX_MESSAGE,
    // A call that is sent again by grpc-js goes over a connection whose history is not proven (kurrentdb-proven-channel.ts).
    'grpc.enable_retries': 0,
    // The sockets belong only to this channel, so they close with it.
    'grpc.use_local_subchannel_pool': 1,
  });
}

type Search = {
  readonly gossip: Gossip;
  readonly searching: () => void;
  readonly signal: AbortSignal;
};

/** Longest pause between two searches, unless the address has a longer interval. */
const LONGEST_PAUSE_MS = 1_000;

/** Returns the only node, or the leader that a node of the cluster names. A pause takes at most a quarter of the time that has passed. */
async function findNode(address: Address, { gossip, searching, signal }: Search): Promise<EndPoint> {
  const [host] = address.hosts;
  if (host === undefined) throw new Error(`${address.shown} has no host`);
  if (!address.isCluster) return host;
  const started = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const leader = await Promise.any(gossip.nodes().map(gossip.leaderSeenBy)).catch(() => undefined);
    if (leader !== undefined) return leader;
    signal.throwIfAborted();
    if (attempt === 1) searching();
    if (attempt >= address.maxDiscoverAttempts)
      throw new Error(`Failed to discover after ${attempt} attempts: no node of ${address.shown} answers`);
    const pause = Math.min((performance.now() - started) / 4, LONGEST_PAUSE_MS);
    await delay(Math.max(address.discoveryIntervalMs, pause), undefined, { signal });
  }
}
