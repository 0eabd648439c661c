import type { Logger } from 'pino';
import type { Listener } from '../http/listen.ts';
import type { OperatingProcess } from './open-operating.ts';

type Closable = { close(): Promise<void> };
/** `stepDown`: where it may lead. */
type Served = Closable & { stepDown?(): Promise<void> };

export type Stopper = {
  /** There is something to stop by now. */
  with(listener: Listener, served: Served): void;
  isStopping(): boolean;
};

/**
 * The first signal answers what is under way and closes everything; a second one ends the process at once. `others` are closed
 * before requests are drained.
 */
export function stopOnSignal(
  logger: Logger,
  drainSeconds: number,
  { operating, close }: OperatingProcess,
  others: readonly Closable[] = [],
): Stopper {
  let running: { readonly listener: Listener; readonly served: Served } | undefined;
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    operating.readiness.draining();
    for (const other of others) await other.close();
    const drained = running?.listener.drain(drainSeconds * 1000);
    // Reads may take their time: the lead need not wait for them.
    await Promise.all([drained, Promise.race([drained, running?.served.stepDown?.()])]);
    await running?.served.close();
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void stop(signal).catch((error: unknown) => die(logger, error)));
  }
  return {
    with(listener, served) {
      running = { listener, served };
    },
    isStopping: () => stopping,
  };
}

/** What is shown would fall behind what is stored: nothing is served rather than something stale. */
export function die(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, 'the server cannot go on');
  process.exit(1);
}
