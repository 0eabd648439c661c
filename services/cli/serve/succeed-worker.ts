import type { RequestListener } from 'node:http';
import type { LeaderLocation } from '../../fleet/leadership.ts';
import { warmUp } from '../../http/sockets/recent-requests.ts';
import type { Metrics } from '../../operating/metrics.ts';
import type { Varve } from '../../process/open-varve.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import type { Succession } from '../../supervisor/protocol.ts';

/** Maximum time for answering recent requests. The other process serves meanwhile. */
const WARM_UP_MS = 4_000;
/** Part of the supervisor's limit that remains for the last step, after the wait for a leader. */
const LAST_STEP_MS = 2_000;
const LOOK_MS = 20;

export type SuccessionOptions = {
  readonly varve: Pick<Varve, 'fleet' | 'operator' | 'search'>;
  readonly metrics: Metrics | undefined;
  /** Address of the server, if both processes have the same. Absent: no other server has this log. */
  readonly address: string | undefined;
  readonly isStopping: () => boolean;
  /** Says that this process is ready. Resolves when it should serve. */
  readonly takeTurn: () => Promise<void>;
};

/**
 * Replaces the serving process, once this process has read the words of all rows and is warm. First this process becomes leader, then its
 * generation becomes live. Only then it accepts connections, so that its readers see every acknowledged write. If it changes content types,
 * writes wait already, so it reads the words later.
 */
export async function succeedWorker(
  supervisor: Supervisor,
  { recent, enterMs, changesTypes }: Succession,
  handler: RequestListener,
  { varve, metrics, address, isStopping, takeTurn }: SuccessionOptions,
): Promise<void> {
  const { index } = await varve.operator.readSide();
  if (!changesTypes) await index.local?.warm();
  await warmUp(recent, handler, WARM_UP_MS);
  metrics?.reset();
  varve.search.counts?.discard();
  await takeTurn();
  const waitMs = enterMs - LAST_STEP_MS;
  const deadline = performance.now() + waitMs;
  while (isUndecided(varve.fleet.leader(), address) && performance.now() < deadline)
    await varve.fleet.changed(LOOK_MS);
  if (isStopping()) return;
  enterOrSayWhy(varve, waitMs);
  await supervisor.enter();
}

/** Makes the generation live. If only a leader can, and no process became the leader, the error says so. */
function enterOrSayWhy({ fleet, operator }: SuccessionOptions['varve'], waitMs: number): void {
  try {
    operator.generations.enter();
  } catch (error) {
    if (fleet.leader().kind !== 'nobody') throw error;
    throw new Error(`no process became the leader within ${waitMs / 1_000} s`, { cause: error });
  }
}

/** Returns whether there is no leader, or this process does not know yet that the other one has stepped down. */
function isUndecided(led: LeaderLocation, address: string | undefined): boolean {
  if (led.kind === 'elsewhere') return address === undefined || led.leader.address === address;
  return led.kind === 'nobody';
}
