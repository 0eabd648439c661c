import { laterPosition } from '../../shared/event-store/later-position.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import type { EffectiveBatch } from '../../shared/fleet/effective-events.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { documentActions } from '../history/document-actions.ts';
import { reporting } from '../outbox/reporting.ts';
import { untilShown } from '../outbox/until-shown.ts';
import { completeCommand } from './complete-command.ts';
import { createDispatcher } from './dispatcher.ts';
import { makeDeliveries } from './make-deliveries.ts';
import { createHistoryReplay } from './replay-history.ts';
import type { TermOptions } from './term-options.ts';
import { createProgress } from './webhook-progress.ts';

const BATCH_SIZE = 100;
const HOUR_MS = 3_600_000;
/** Wait for a lock of the file, before this process ends or another one becomes the leader. */
const CLOSE_WAIT_MS = 1_000;

/** Makes and sends deliveries from the checkpoint on: one term of a leader. */
export async function startTerm(options: TermOptions) {
  const { store, limits, hooks, report } = options;
  const progress = createProgress(options);
  const after = await progress.begin();
  const closing = new AbortController();
  const { signal } = closing;
  const prune = () => store.prune(options.now() - limits.keepMs, new Set(hooks().keys()));
  prune();
  const dispatcher = createDispatcher(options);
  let reached = after;
  const keep = () => store.add([], reached, options.now());
  const take = async ({ events, read, upTo }: EffectiveBatch): Promise<void> => {
    const later = events.filter(({ position }) => position > reached);
    for (const event of later) refuseUnreadable(event);
    // A full batch may have cut its last command, and one command is one delivery.
    const whole = read < BATCH_SIZE ? later : await completeCommand(options.events, later);
    const end = whole.at(-1)?.position ?? upTo;
    const wanting = [...hooks().values()];
    if (documentActions(whole, options.registry).length > 0) await untilShown(options.shows, end, signal);
    if (signal.aborted) return;
    let some = false;
    for await (const made of makeDeliveries(options, whole, wanting)) {
      // Another term continues from the checkpoint and makes the same deliveries.
      if (signal.aborted) return;
      await whenUnlocked(() => store.add(made, undefined, options.now()), signal);
      dispatcher.look();
      some = true;
    }
    if (signal.aborted) return;
    reached = laterPosition(laterPosition(end, upTo), reached);
    if (some) await whenUnlocked(keep, signal);
  };
  const subscription = options.events.subscribe(after, take, { batchSize: BATCH_SIZE });
  const again = createHistoryReplay({ ...options, progress, made: dispatcher.look, reached: () => reached });
  const announce = () => {
    keep();
    // Never rejects: a failure is reported.
    void progress.write();
  };
  const timers = [
    setInterval(reporting(report.error, prune), HOUR_MS),
    setInterval(again.look, limits.lookMs),
    setInterval(reporting(report.error, announce), limits.progressMs),
  ];
  dispatcher.look();
  return {
    /** Looks at changed webhooks. */
    look: reporting(report.error, () => {
      prune();
      dispatcher.look();
    }),
    /** Writes the progress to the log, for the next leader. Never rejects. */
    announce: progress.write,
    /** Rejects when the log can no longer be read. */
    done: subscription.done,
    /** `isLeading`: write the progress to the log. */
    async close(isLeading: boolean): Promise<void> {
      closing.abort();
      for (const timer of timers) clearInterval(timer);
      await subscription.close();
      subscription.done.catch(() => {});
      await again.close();
      await dispatcher.close();
      await whenUnlocked(keep, AbortSignal.timeout(CLOSE_WAIT_MS)).catch(report.error);
      if (isLeading) await progress.write();
    },
  };
}
