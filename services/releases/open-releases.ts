import type { EventStore } from '../../shared/event-store/event-store.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { createLocks } from '../../shared/locks.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { derivedDocumentId } from '../command/document-id.ts';
import type { CommandEnvironment } from '../command/environment.ts';
import type { Together } from '../command/publish-together.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Metrics } from '../operating/metrics.ts';
import { leadOutbox } from '../outbox/lead-outbox.ts';
import { type CarryOut, createCarryOut } from './carry-out.ts';
import type { DescribeOptions } from './describe-release.ts';
import { observeReleases } from './observe-releases.ts';
import { createReleaseCommands, type NewAction, type ReleaseCommands } from './release-commands.ts';
import type { resolveAction } from './release-request.ts';
import { hasScheduled, type ReleaseReport, startReleaseTerm } from './release-term.ts';
import { watchReleases } from './watch-releases.ts';

export type ReleasesOptions = {
  readonly log: EventStore;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed'>;
  /** The write side, which the scheduler shares with requests. */
  readonly environment: CommandEnvironment;
  readonly commands: CommandHandler;
  readonly together: Together;
  readonly report: ReleaseReport;
  /** Absent: there are no metrics. */
  readonly metrics: Metrics | undefined;
};

/** Releases for requests. `opened` absent: this process has no content graph, and only forwards changes. */
export type ServedReleases = { readonly opened?: OpenedReleases };

export type OpenedReleases = {
  readonly commands: ReleaseCommands;
  readonly carryOut: CarryOut;
  readonly describing: DescribeOptions;
  readonly resolving: () => Parameters<typeof resolveAction>[1];
  /** Returns whether the document of an action has an entry that it changes. */
  readonly exists: (action: NewAction) => boolean;
  /** Author of the current request. */
  readonly author: typeof requestOrOperator;
};

/** Releases of a process that can lead. */
export type Releases = Awaited<ReturnType<typeof openReleases>>;

/** Reads the releases, and carries them out while this process is the leader. */
export async function openReleases(options: ReleasesOptions) {
  const { log, environment, fleet, report, together } = options;
  const { space, lead, now } = environment;
  let changed = () => {};
  const known = await watchReleases(log, space, () => changed());
  known.done.catch(report.error);
  const locks = createLocks();
  const commands = createReleaseCommands({ log, space, known, lead, author: requestOrOperator, now, locks });
  const carryOutOnce = createCarryOut({
    log,
    events: createEffectiveEvents(log, space),
    space,
    known,
    commands,
    together,
    single: options.commands,
    lead,
    now,
    locks,
  });
  /** All releases; null if another process carries them out. */
  const led = () => (fleet.epoch() === undefined ? null : known.state());
  const carryOut = observeReleases(options.metrics, led, carryOutOnce);
  const outbox = leadOutbox({
    fleet,
    hasWork: () => hasScheduled(known),
    failed: report.error,
    begin: async () => startReleaseTerm({ known, carryOut, report, now: Date.now }),
  });
  changed = outbox.wake;
  const opened = { ...partsOf(options), commands, carryOut };
  return {
    served: { opened } satisfies ServedReleases,
    led: () => (led() === null ? null : commands.list()),
    /** Ends the scheduler, after the release that it carries out. */
    stop: outbox.stop,
    async close(): Promise<void> {
      await outbox.stop();
      await known.close();
    },
  };
}

function partsOf({ environment, together }: ReleasesOptions): Omit<OpenedReleases, 'commands' | 'carryOut'> {
  const { space, graph, registry, defaultLocale } = environment;
  return {
    describing: { together, registry, graph },
    resolving: () => ({
      registry: registry(),
      defaultLocale,
      singleOf(contentType) {
        const documentId = derivedDocumentId(space, contentType);
        return graph.exists(contentType, documentId) ? documentId : undefined;
      },
    }),
    exists: ({ contentType, entryDocumentId, locale }) =>
      graph.exists(contentType, entryDocumentId, ...(locale === '*' || locale === null ? [] : [locale])),
    author: requestOrOperator,
  };
}
