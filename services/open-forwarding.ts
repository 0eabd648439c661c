import { newCommandKey } from './command/new-command-key.ts';
import { createCommandProof } from './fleet/command-proof.ts';
import { isReachable } from './fleet/probe-leader.ts';
import { PATIENCE } from './fleet/watch-leader.ts';
import type { ForwardingOptions } from './http/forward-writes.ts';
import { METRICS } from './operating/metric-definitions.ts';
import type { Metrics } from './operating/metrics.ts';

export type OpenForwardingOptions = Pick<ForwardingOptions, 'fleet' | 'address'> & {
  /** That the processes of the log share: see readAccessKey. */
  readonly key: Buffer;
  readonly metrics: Metrics | undefined;
};

/** How writes get to the leader from a process that is not. */
export function openForwarding({ fleet, address, key, metrics }: OpenForwardingOptions): ForwardingOptions {
  const writes = metrics?.counter(METRICS.forwardedWrites);
  return {
    ...{ fleet, address },
    proof: createCommandProof(key),
    isThere: (leader) => isReachable(leader, PATIENCE.probeTimeout),
    newCommandId: newCommandKey,
    forwarded: () => writes?.add(1),
  };
}
