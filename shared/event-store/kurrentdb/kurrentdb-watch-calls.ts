import type { Channel } from '@grpc/grpc-js';
import type { Address, EndPoint } from './kurrentdb-address.ts';
import { LeaderMoved } from './kurrentdb-failure.ts';
import { type Gossip, isSameNode } from './kurrentdb-gossip.ts';

/** Milliseconds that a call waits before other nodes are asked for the leader. */
const ASK_AFTER_MS = 1_000;
/** Milliseconds between two such questions, each of which may take as long as a search for a node. */
const ASK_EVERY_MS = 500;

/** A call on a channel. `since`: when it began to wait, in the time of `performance.now()`; infinite for a subscription. */
type Call = { readonly on: Channel; readonly since: number; readonly end: (error: LeaderMoved) => void };

type Nodes = {
  readonly gossip: Gossip;
  /** Returns the node of a channel. */
  readonly endPointOf: (on: Channel) => EndPoint | undefined;
  /** Gives up a channel. */
  readonly leave: (on: Channel, error: LeaderMoved) => void;
};

/**
 * Ends the calls on a node that is silent and no longer the leader. A stopped node keeps its connections, so only a deadline would end them.
 * A deadline must leave time for a slow leader. So the other nodes are asked when a call waits: a leader that is only slow is not left.
 */
export function watchCalls({ isCluster }: Address, { gossip, endPointOf, leave }: Nodes) {
  const calls = new Set<Call>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  const ask = async (on: Channel): Promise<void> => {
    const leader = await otherLeader(gossip, endPointOf(on));
    if (leader === undefined) return;
    const error = new LeaderMoved(ASK_AFTER_MS, leader);
    leave(on, error);
    for (const call of calls) if (call.on === on) call.end(error);
  };
  const look = (): void => {
    const waiting = [...calls].filter(({ since }) => Number.isFinite(since));
    const late = waiting.find(({ since }) => performance.now() - since > ASK_AFTER_MS);
    if (waiting.length === 0) stop();
    if (late === undefined || isAsking) return;
    isAsking = true;
    // Never rejects: a node that does not answer names no leader.
    void ask(late.on).finally(() => {
      isAsking = false;
    });
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    /** Watches a call until the function that is returned is called. */
    enter(call: Call): () => void {
      if (!isCluster) return () => undefined;
      calls.add(call);
      if (Number.isFinite(call.since)) timer ??= setInterval(look, ASK_EVERY_MS).unref();
      return () => calls.delete(call);
    },
    close: stop,
  };
}

/** Returns the leader that another node names, if that node is not the current one and says the same of itself. */
async function otherLeader(
  { members, leaderSeenBy }: Gossip,
  current: EndPoint | undefined,
): Promise<EndPoint | undefined> {
  const others = members().filter((node) => !isSameNode(node, current));
  const named = others.map(async (node) => {
    const leader = await leaderSeenBy(node);
    if (isSameNode(leader, current)) throw new Error('the leader is the same');
    const itself = isSameNode(leader, node) ? leader : await leaderSeenBy(leader);
    if (!isSameNode(itself, leader)) throw new Error('the named leader names another');
    return leader;
  });
  return Promise.any(named).catch(() => undefined);
}
