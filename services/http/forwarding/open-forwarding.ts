import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../../shared/defined.ts';
import { newCommandKey } from '../../command/new-command-key.ts';
import { METRICS } from '../../operating/metric-definitions.ts';
import type { Metrics } from '../../operating/metrics.ts';
import type { ForwardingOptions } from './forward-writes.ts';
import { createForwardedCommands } from './forwarded-commands.ts';

export type Forwarding = ForwardingOptions & {
  /** Resolves when this process has carried out no write for a moment. */
  idle(): Promise<void>;
};

export type OpenForwardingOptions = Pick<
  ForwardingOptions,
  'fleet' | 'membership' | 'bodyKey' | 'refuseWrites' | 'isConverting'
> & {
  readonly metrics: Metrics | undefined;
};

/** Opens the parts that forward writes from a process that is not the leader. */
export function openForwarding(options: OpenForwardingOptions): Forwarding {
  const { fleet, membership, bodyKey, metrics, refuseWrites, isConverting } = options;
  const writes = metrics?.counter(METRICS.forwardedWrites);
  return {
    fleet,
    membership,
    bodyKey,
    ...defined({ refuseWrites, isConverting }),
    commands: createForwardedCommands(membership),
    newCommandId: newCommandKey,
    forwarded: () => writes?.add(1),
    ...countUnderWay(),
  };
}

/** Time without writes. A client that has just got an answer may already have sent its next request. */
const MOMENT_MS = 300;

function countUnderWay(): Pick<Forwarding, 'underWay' | 'idle'> {
  let count = 0;
  let lastChange = performance.now();
  const change = (by: number) => {
    count += by;
    lastChange = performance.now();
  };
  return {
    underWay: { enter: () => change(1), leave: () => change(-1) },
    async idle() {
      const asked = performance.now();
      while (count > 0 || performance.now() - Math.max(asked, lastChange) < MOMENT_MS)
        await delay(MOMENT_MS / 6);
    },
  };
}
