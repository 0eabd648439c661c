import { shareContents } from '../../../shared/sqlite/lock-data-directory.ts';
import { PURGE_LIMITS } from '../../purge/send-purges.ts';
import { isFirstWorker } from '../../supervisor/connect-supervisor.ts';
import { logPurges, logReleases, logTrouble, logWebhooks } from '../output/log-reports.ts';
import { webhookLimits } from '../settings/webhook-settings.ts';
import type { LeadingParts, LeadingPlan } from './leading-parts.ts';
import { lockAfterCommand } from './lock-after-command.ts';
import { removeWorkerFolders } from './worker-folder.ts';

/**
 * Returns the options of `openVarve` for the worker that is the leader: those of all workers, and those for its own tasks. `takeTurn`
 * says that this worker is ready to replace another one, and resolves when it should.
 */
export function leadingOptions(parts: LeadingParts, takeTurn: () => Promise<void>, address: string) {
  const { settings, logger, follow, purges, builder, shared, supervisor } = parts;
  const { build, command } = builder;
  return {
    ...shared,
    content: { ...shared.content, releases: follow === undefined ? logReleases(logger) : undefined },
    data: {
      ...shared.data,
      takeDirectory: directoryTaker(parts),
      reportTrouble: logTrouble(logger),
      reportCheck: (finding: string) => logger.info({ finding }, `the server of the event log: ${finding}`),
    },
    caches: {
      ...shared.caches,
      purges: purges && { ...purges, limits: PURGE_LIMITS, report: logPurges(logger) },
    },
    fleet: { ...shared.fleet, ...successionOptions(parts, takeTurn), address },
    worker: {
      ...shared.worker,
      build,
      command,
      otherWorkers: settings.network.workers === 1 ? undefined : supervisor.rotation,
    },
    follow,
    webhooks: { limits: webhookLimits(settings.webhooks), report: logWebhooks(logger) },
  };
}

function directoryTaker({ supervisor, operators, logger }: LeadingParts) {
  return async (directory: string) => {
    const channel = { ...operators.channel, pid: supervisor.pid };
    await lockAfterCommand(() => supervisor.lock(directory, channel), logger);
    const isFirst = isFirstWorker(supervisor);
    const contents = shareContents(directory, isFirst);
    if (isFirst) removeWorkerFolders(directory);
    return contents;
  };
}

/** Returns the options for the worker that this one replaces, and for the one that replaces it. */
function successionOptions({ supervisor, recent, readSide }: LeadingParts, takeTurn: () => Promise<void>) {
  const { succession } = supervisor;
  return {
    generation: succession?.generation,
    turn: succession?.changesTypes === true ? takeTurn : undefined,
    claimsFrom: supervisor.turn,
    abandon: (reason: string, generation?: number) => supervisor.abandon({ reason, generation }),
    // Recent requests do not help with other content types, because every answer changes.
    handOver: (generation: number, changesTypes: boolean) =>
      supervisor.handOver({
        generation,
        changesTypes,
        recent: changesTypes ? [] : recent.list(),
        enterMs: enterLimit(changesTypes, readSide),
      }),
  };
}

/**
 * Returns the limit in milliseconds for becoming leader instead of another process. It is higher if Elasticsearch's indices must show all
 * writes first, or if rows must be converted to changed content types.
 */
function enterLimit(changesTypes: boolean, { outside }: LeadingPlan['readSide']): number {
  if (changesTypes) return 300_000;
  return outside === undefined ? 5_000 : 30_000;
}
