import { once } from 'node:events';
import { readDirectoryHolder } from '../../../shared/sqlite/lock-data-directory.ts';
import { callOperator } from '../../operator/call-operator.ts';
import type { LoadSample } from '../../operator/watch-load.ts';
import type { Throttle } from '../../rebuild/throttle.ts';

const FIRST_SAMPLE_MS = 4_000;
/** Result of `observeServer` where no server runs. */
export const UNOBSERVED = { sampled: Promise.resolve(), done: Promise.resolve() };

/**
 * Passes samples of the server's load to the throttle, if a server holds the directory. `sampled` resolves after the first sample, or if
 * there is none for a while.
 */
export function observeServer(
  data: string,
  throttle: Throttle,
  signal: AbortSignal,
): { readonly sampled: Promise<void>; readonly done: Promise<void> } {
  const channel = readDirectoryHolder(data)?.channel;
  if (channel === undefined) return UNOBSERVED;
  const first = Promise.withResolvers<void>();
  const watch = async () => {
    for await (const sample of callOperator(channel, 'load', {}, signal)) {
      throttle.observe(sample as LoadSample);
      first.resolve();
    }
  };
  // Without a server there are no requests to protect.
  const done = watch()
    .catch(() => {})
    .finally(first.resolve);
  const late = once(AbortSignal.timeout(FIRST_SAMPLE_MS), 'abort').then(() => {});
  // Never rejects: neither promise does.
  return { sampled: Promise.race([first.promise, late]), done };
}
