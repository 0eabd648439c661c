import { createReport } from '../../elasticsearch/report.ts';
import { WAIT_LIMITS } from '../../http/sockets/waiting-requests.ts';
import type { Operating } from '../../operating/operating.ts';
import { openApiProcess } from '../../process/api-process.ts';
import type { ApiProcessOptions } from '../../process/process-options.ts';
import { assetsAddress } from '../../stores/open-asset-store.ts';
import { connectSupervisor, type Supervisor } from '../../supervisor/connect-supervisor.ts';
import { logTrouble } from '../output/log-reports.ts';
import { startMessage } from '../output/start-message.ts';
import { followSettings } from '../settings/follow-settings.ts';
import { connectionOf, denormaliseOf, readSideSettings, rowCacheBytesOf } from '../settings/read-side.ts';
import type { SettingOrigins } from '../settings/setting-origins.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { checkCacheToken } from './check-cache-token.ts';
import { listenWhileOpening } from './listen-while-opening.ts';
import { openOperating } from './open-operating.ts';
import { setPublic } from './public-rights.ts';
import { serveApp } from './serve-app.ts';
import { readServerPlan, type ServerPlan } from './server-plan.ts';
import { shownSettings } from './shown-settings.ts';
import { startNotes } from './start-notes.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { servingOptions } from './worker-options.ts';

/**
 * Runs `varve api` in a worker. Resolves when it answers reads and has printed its greeting. Ends with exit code 0 when its supervisor stops
 * it. Rejects with a message if it cannot start. `refuseUnusable` has validated `settings`.
 */
export async function serveApi(settings: ServeSettings, origins: SettingOrigins): Promise<void> {
  const supervisor = await connectSupervisor();
  const { restarts } = supervisor;
  const plan = await readServerPlan(settings);
  const { logger } = plan;
  const { drainSeconds } = settings.operating;
  supervisor.onRenew(() =>
    logger.warn({}, 'varve api has no read model to renew: restart it to run another program'),
  );
  const ports = await openOperating(settings, logger, supervisor, 'api');
  const stop = stopOnSignal({ logger, ports, signals: supervisor.onStop, drainSeconds });
  await stop.starting(async () => {
    const where = {
      host: settings.network.host,
      port: settings.network.port,
      socket: supervisor.socket('api'),
      waits: restarts > 0 ? WAIT_LIMITS : undefined,
      first: ports.first,
    };
    const options = apiOptions(plan, ports.operating, supervisor);
    stop.departing(options.worker.processes.leave);
    const [api, listener] = await listenWhileOpening(where, () => openApiProcess(options));
    stop.with(listener, api);
    if (plan.publicRights !== undefined) await setPublic(api, plan.publicRights);
    checkCacheToken(api.cacheToken, logger, restarts === 0);
    ports.admit(api.access);
    await serveApp({
      role: 'api',
      settings,
      ...plan.paths,
      served: api,
      listener,
      logger,
      operating: ports.operating,
      past: api.past,
      shows: {
        state: api.state,
        log: api.log,
        activity: ports.activity,
        slowQueries: ports.slowQueries,
        settings: shownSettings(plan, 'api', origins),
      },
      greet: async () => greet(plan, supervisor, listener.url, api),
    });
  });
}

/** Reports to the supervisor that this worker serves. The first worker prints the greeting. */
function greet(
  { settings, pages, contentTypes }: ServerPlan,
  supervisor: Supervisor,
  url: string,
  { access, registry }: Awaited<ReturnType<typeof openApiProcess>>,
): void {
  const { logLevel, logFormat, drainSeconds } = settings.operating;
  supervisor.serving({ logLevel, logFormat }, drainSeconds * 1_000);
  if (supervisor.isGreeted) return;
  supervisor.greeting();
  const { development } = access.state();
  const notes = startNotes(settings, contentTypes.codeNotes);
  console.log(startMessage({ url, registry, development, pages, notes }));
}

function apiOptions(
  plan: ServerPlan,
  operating: Operating,
  { pid, restarts }: Supervisor,
): ApiProcessOptions {
  const { settings, logger, paths } = plan;
  const readSide = readSideSettings(settings);
  return {
    ...servingOptions(settings, { ...plan, operating }, pid),
    data: {
      space: settings.data.space,
      eventStore: settings.data.eventStore ?? '',
      assets: assetsAddress({ ...settings.data, ...settings.files }),
      reportTrouble: logTrouble(logger),
    },
    report: createReport(logger, restarts > 0),
    // Only the leader reads Strapi, so this process has nothing to report.
    follow: followSettings({ ...settings.following, login: settings.login.login }, paths.apiPrefix, () => {}),
    elasticsearch: {
      connection: connectionOf(readSide),
      denormalise: denormaliseOf(readSide),
      rowCacheBytes: rowCacheBytesOf(readSide),
    },
  };
}
