import { setTimeout as delay } from 'node:timers/promises';
import { Channel } from '@grpc/grpc-js';
import { isCommandError, NotLeaderError } from '@kurrent/kurrentdb-client';
import { discoverEndpoint } from '@kurrent/kurrentdb-client/dist/Client/discovery.js';
import { type Backoff, backoffMs } from '../../backoff.ts';
import { type Address, assertTlsName, type EndPoint } from './kurrentdb-address.ts';

/** The single connection of a client: opened when first needed, and opened again when its node is lost. */
export type NodeChannel = {
  /** The channel for the next call. Rejects when discovery gave up or the channel was closed for good. */
  current(): Promise<Channel>;
  /**
   * Reports that a call on this channel failed in a way that another node may not. The next call gets another channel.
   */
  lost(channel: Channel, error: unknown): void;
  /** Number of channels made so far. */
  readonly made: () => number;
  close(): void;
};

/** Pace of new channels. The wait starts if a channel was lost soon after it was made. */
export type ChannelPace = Backoff & { readonly even: number };

/** Reads: at most one replacement a second, after five in a row twice as long each time. */
export const READING_PACE: ChannelPace = { firstMs: 1_000, even: 5, longestMs: 5_000 };
/** Appends and subscriptions, which are repeated with pauses of their own. */
export const WRITING_PACE: ChannelPace = { firstMs: 50, even: 1, longestMs: 1_000 };
/** A channel that lasted this long was not a mistake: the pauses start again at the shortest. */
const STABLE_MS = 10_000;

/** The client sets it too: the largest event that a server can hold is below 17 MB. */
const MAX_MESSAGE = 17 * 1024 * 1024;

/**
 * Replaces the client's (1.3.1) channel management so that it can be ended. The client's own discovery cannot be
 * stopped, rejects where no caller can handle it (kurrentdb-client.ts has the list), and never leaves a channel whose
 * node has stopped answering. Calls `searching` when no node answers for the first time. Closes a lost channel at once;
 * calls in flight on it end with their answer or their deadline.
 */
export function createNodeChannel(
  address: Address,
  pace: ChannelPace,
  searching: () => void = () => undefined,
): NodeChannel {
  const closing = new AbortController();
  let current: Promise<Channel> | undefined;
  let open: Channel | undefined;
  let failed: EndPoint | undefined;
  let leader: EndPoint | undefined;
  let made = 0;
  let losses = 0;
  let openedAt = Number.NEGATIVE_INFINITY;

  const find = async (): Promise<Channel> => {
    const wait = openedAt + pauseAfter(losses, pace) - performance.now();
    if (wait > 0) await delay(wait, undefined, { signal: closing.signal });
    const endPoint = leader ?? (await findNode({ address, searching, signal: closing.signal }, failed));
    if (address.tls) assertTlsName(endPoint.address);
    closing.signal.throwIfAborted();
    leader = undefined;
    openedAt = performance.now();
    made += 1;
    open = openChannel(address, endPoint);
    return open;
  };
  return {
    current() {
      if (current === undefined) {
        const finding = find();
        current = finding;
        finding.catch(() => {
          if (current === finding) current = undefined;
        });
      }
      return current;
    },
    lost(channel, error) {
      if (channel !== open) return;
      open = undefined;
      current = undefined;
      losses = performance.now() - openedAt > STABLE_MS ? 1 : losses + 1;
      failed = endPointOf(channel);
      leader = isCommandError(error as Error) && error instanceof NotLeaderError ? error.leader : undefined;
      channel.close();
    },
    made: () => made,
    close() {
      closing.abort(new Error('the event store is closed'));
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
    // The sockets belong only to this channel, so they close with it.
    'grpc.use_local_subchannel_pool': 1,
  });
}

function pauseAfter(losses: number, pace: ChannelPace): number {
  return losses === 0 ? 0 : backoffMs(Math.max(1, losses - pace.even + 1), pace);
}

type Search = { readonly address: Address; readonly searching: () => void; readonly signal: AbortSignal };

async function findNode(
  { address, searching, signal }: Search,
  failed: EndPoint | undefined,
): Promise<EndPoint> {
  const [host] = address.hosts;
  if (host === undefined) throw new Error(`${address.shown} has no host`);
  if (!address.isCluster) return host;
  const settings = {
    ...(address.isDnsName ? { discover: host } : { endpoints: [...address.hosts] }),
    ...(address.nodePreference && { nodePreference: address.nodePreference }),
    gossipTimeout: address.gossipTimeoutSeconds,
    // One round, because this code repeats rounds and waits between them.
    maxDiscoverAttempts: 1,
    discoveryInterval: address.discoveryIntervalMs,
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await discoverEndpoint(settings, address.channelCredentials, failed);
    } catch {
      signal.throwIfAborted();
      if (attempt === 1) searching();
      if (attempt < address.maxDiscoverAttempts) continue;
      throw new Error(`Failed to discover after ${attempt} attempts: no node of ${address.shown} answers`);
    }
  }
}

/** Host and port of a target such as `dns:localhost:2113`. */
function endPointOf(channel: Channel): EndPoint | undefined {
  const [, address, port] = /([^:/]+):(\d+)$/.exec(channel.getTarget()) ?? [];
  return address === undefined ? undefined : { address, port: Number(port) };
}
