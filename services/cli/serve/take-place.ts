import type { RequestListener } from 'node:http';
import { warmUp } from '../../http/recent-requests.ts';
import type { Varve } from '../../main.ts';
import type { Metrics } from '../../operating/metrics.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import type { Succession } from '../../supervisor/protocol.ts';

/** Answering recent requests takes so long at most: meanwhile the other process serves. */
const WARM_UP_MS = 4_000;
/** The supervisor waits longer than this process does for learning who the leader is. */
const ENTER_MS = 2_000;
const LOOK_MS = 20;

export type TakePlaceOptions = {
  readonly varve: Pick<Varve, 'fleet' | 'operator'>;
  readonly metrics: Metrics | undefined;
  readonly isStopping: () => boolean;
};

/**
 * Takes the place of the process that serves, once this one answers as fast as that: it becomes leader, its generation becomes the
 * live one, and only then it accepts connections, so that its readers see all that was acknowledged.
 */
export async function takePlace(
  supervisor: Supervisor,
  { recent, enterMs }: Succession,
  handler: RequestListener,
  { varve, metrics, isStopping }: TakePlaceOptions,
): Promise<void> {
  await warmUp(recent, handler, WARM_UP_MS);
  metrics?.reset();
  await supervisor.ready();
  const deadline = performance.now() + enterMs - ENTER_MS;
  while (varve.fleet.leader().kind === 'nobody' && performance.now() < deadline)
    await varve.fleet.changed(LOOK_MS);
  if (isStopping()) return;
  varve.operator.generations.enter();
  await supervisor.enter();
}
