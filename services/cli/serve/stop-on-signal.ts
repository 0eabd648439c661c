import type { Logger } from 'pino';
import { LogRestored } from '../../../shared/event-store/event-store.ts';
import { canRecover } from '../../../shared/sqlite/failures.ts';
import { valueWithin } from '../../../shared/value-within.ts';
import type { CallerAddress } from '../../http/sockets/caller-address.ts';
import type { Listener } from '../../http/sockets/listen.ts';
import { proxyRequests } from '../../http/sockets/proxy-requests.ts';
import { isWorker, type StopHeard } from '../../supervisor/connect-supervisor.ts';
import { FINAL_EXIT, RESTART_EXIT, type StopReason } from '../../supervisor/protocol.ts';
import { reachableUrl } from '../output/reachable-url.ts';
import type { OperatingProcess } from './open-operating.ts';

type Closable = { close(): Promise<void> };
/** `endDuties` and `stepDown`: present if the process can be the leader. `stopped` rejects when the process cannot continue. */
type Served = Closable & {
  endDuties?(): Promise<void>;
  stepDown?(): Promise<void>;
  readonly stopped?: Promise<void>;
};

/** Closes the open parts of a process after a signal or a failed start. */
export type Stopper = ReturnType<typeof stopOnSignal>;

export type StopOptions = {
  readonly logger: Logger;
  readonly drainSeconds: number;
  readonly ports: OperatingProcess;
  /** Absent: no other worker takes the place of this process. */
  readonly callers?: CallerAddress;
  /** Calls back for each signal to stop. Calls `hurry` if the next process stops too. */
  readonly signals: (heard: StopHeard, hurry: () => void) => void;
};

/** Parts of a process that a stop closes. */
type Stoppable = {
  running: { readonly listener: Listener; readonly served: Served } | undefined;
  readonly others: Closable[];
  depart: () => Promise<void>;
};

/** After the first signal, answers requests in flight and closes everything. A second signal ends the process immediately. */
export function stopOnSignal(options: StopOptions) {
  const { logger, ports, signals } = options;
  const parts: Stoppable = { running: undefined, others: [], depart: async () => {} };
  let stopping = false;
  const stop = async (reason: StopReason, elapsedMs: number) => {
    // A signal has come in a hand-over that has been completed only now.
    if (stopping && reason === 'replaced') return;
    if (stopping) process.exit(1);
    stopping = true;
    if (reason === 'replaced') await leaveToNext(parts, options);
    else await leave(parts, options, { signal: reason, elapsedMs });
    await parts.running?.served.close();
    await ports.close();
    process.exit(0);
  };
  signals(
    (signal, elapsedMs = 0) => void stop(signal, elapsedMs).catch((error: unknown) => die(logger, error)),
    () => parts.running?.listener.hurry(),
  );
  return {
    /** Sets what has to be stopped. The process ends when it cannot continue. */
    with(listener: Listener, served: Served): void {
      parts.running = { listener, served };
      served.stopped?.catch((error: unknown) =>
        error instanceof LogRestored ? startAgain(options, error) : die(logger, error),
      );
    },
    /** Sets what is closed before requests are drained. */
    first(closable: Closable): void {
      parts.others.push(closable);
    },
    /** Sets what the process does last if it stops for good, and no other worker replaces it. */
    departing(depart: () => Promise<void>): void {
      parts.depart = depart;
    },
    /** Runs a start. If it fails, closes the opened parts and rejects. After a signal, only the signal's handler closes them. */
    async starting(start: () => Promise<void>): Promise<void> {
      try {
        await start();
      } catch (error) {
        if (stopping) return;
        // The first error is reported, even if a part cannot be closed either.
        await endStart(parts, ports).catch(() => {});
        throw error;
      }
    },
    isStopping: () => stopping,
  };
}

/** Maximum time for the duties of a leader to end. The log may not answer. */
const DUTIES_MS = 2_000;
/** Minimum time for last requests, if `--drain-seconds` is not shorter and other processes had to stop before this one. */
const LEAST_DRAIN_MS = 1_000;

async function leave(
  { running, others, depart }: Stoppable,
  { logger, ports, drainSeconds }: StopOptions,
  { signal, elapsedMs }: { readonly signal: string; readonly elapsedMs: number },
): Promise<void> {
  logger.info({ signal }, 'stopping');
  ports.operating.readiness.draining();
  const wholeMs = drainSeconds * 1000;
  // A standby that finds the port closed claims the lease. The progress of deliveries would count no more.
  await valueWithin(Math.min(wholeMs, DUTIES_MS), running?.served.endDuties?.() ?? Promise.resolve());
  for (const other of others) await other.close();
  const drained = running?.listener.drain(Math.max(wholeMs - elapsedMs, Math.min(wholeMs, LEAST_DRAIN_MS)));
  // Stepping down does not wait for reads, which may take long.
  await Promise.all([drained, Promise.race([drained, running?.served.stepDown?.()])]);
  await depart();
}

/** The server stays ready, because the next process answers requests that still come here. */
async function leaveToNext({ running, others }: Stoppable, options: StopOptions): Promise<void> {
  const { logger, ports, callers, drainSeconds } = options;
  logger.info({}, 'another process serves now: stopping');
  const drained = running?.listener.drain(
    drainSeconds * 1000,
    proxyRequests(reachableUrl(running.listener.url), callers),
  );
  await Promise.all([drained, ports.leave(), ...others.map((other) => other.close())]);
}

async function endStart({ running, others }: Stoppable, ports: OperatingProcess): Promise<void> {
  for (const other of others) await other.close();
  await running?.listener.drain(0);
  await running?.served.close();
  // Otherwise their ports would keep the process running.
  await ports.close();
}

/** Time for answers to writes in flight, which are refused. */
const REFUSE_MS = 200;

/** Ends the worker after an older copy of the log was restored. The next worker compares its files with the log, and makes them again. */
function startAgain({ logger, ports }: StopOptions, error: LogRestored): void {
  logger.error({ err: error }, `${error.message}. Varve makes the read model again from the log`);
  ports.operating.readiness.halted(error.message);
  setTimeout(() => process.exit(RESTART_EXIT), REFUSE_MS);
}

/**
 * The content would lag further and further behind, so the process ends instead of serving stale content. If the failure may pass, the
 * supervisor starts another worker.
 */
function die(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, 'the server cannot continue');
  process.exit(isWorker() && !canRecover(error) ? FINAL_EXIT : 1);
}
