import type { Operating } from '../../operating/operating.ts';
import { openApiProcess } from '../../process/api-process.ts';
import type { ApiProcessOptions } from '../../process/process-options.ts';
import { assetsAddress } from '../../stores/open-asset-store.ts';
import { logTrouble } from '../output/log-reports.ts';
import { startMessage } from '../output/start-message.ts';
import { followSettings } from '../settings/follow-settings.ts';
import { connectionOf, denormaliseOf, rowCacheBytesOf } from '../settings/read-side.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { checkCacheToken } from './check-cache-token.ts';
import { listenWhileOpening } from './listen-while-opening.ts';
import { openOperating } from './open-operating.ts';
import { setPublic } from './public-rights.ts';
import { serveApp } from './serve-app.ts';
import { readServerPlan, type ServerPlan } from './server-plan.ts';
import { ownSignals, stopOnSignal } from './stop-on-signal.ts';
import { servingOptions } from './worker-options.ts';

/**
 * Runs `varve api`. Resolves when it answers reads and has printed its greeting. SIGINT and SIGTERM end it with exit code 0. Rejects with a
 * message if it cannot start. `refuseUnusable` has validated `settings`.
 */
export async function serveApi(settings: ServeSettings): Promise<void> {
  const plan = await readServerPlan(settings);
  const { logger } = plan;
  const ports = await openOperating(settings, logger);
  const stop = stopOnSignal({ logger, ports, signals: ownSignals, drainSeconds: settings.drainSeconds });
  await stop.starting(async () => {
    const where = { host: settings.host, port: settings.port, first: ports.first };
    const options = apiOptions(plan, ports.operating);
    const [api, listener] = await listenWhileOpening(where, () => openApiProcess(options));
    stop.with(listener, api);
    if (plan.publicRights !== undefined) await setPublic(api, plan.publicRights);
    checkCacheToken(api.cacheToken, logger, true);
    ports.admit(api.access);
    await serveApp({
      role: 'api',
      settings,
      ...plan.paths,
      served: api,
      listener,
      logger,
      operating: ports.operating,
      greet: async () => {
        const { development } = api.access.state();
        const { registry } = api;
        console.log(startMessage({ url: listener.url, registry, development, pages: plan.pages }));
      },
    });
  });
}

function apiOptions(plan: ServerPlan, operating: Operating): ApiProcessOptions {
  const { settings, logger, paths } = plan;
  return {
    ...servingOptions(settings, { ...plan, operating }),
    eventStore: settings.eventStore ?? '',
    report: logger,
    // Only the leader reads Strapi, so this process has nothing to report.
    follow: followSettings(settings, paths.apiPrefix, () => {}),
    reportTrouble: logTrouble(logger),
    connection: connectionOf(settings),
    denormalise: denormaliseOf(settings),
    rowCacheBytes: rowCacheBytesOf(settings),
    assets: assetsAddress(settings),
  };
}
