import { type Listener, type ListenOptions, listen } from '../../http/sockets/listen.ts';
import type { ApiProcess, ApiProcessOptions } from '../../process/api-process.ts';
import { openApiProcess } from '../../process/api-process.ts';
import { readApiConfig } from '../../project/read-api-config.ts';
import { assetsPlace } from '../../stores/open-asset-store.ts';
import { createLogger } from '../output/create-logger.ts';
import { logCacheToken } from '../output/log-purges.ts';
import { logTrouble } from '../output/log-trouble.ts';
import { startMessage } from '../output/start-message.ts';
import { refuseOpenHost } from '../settings/access-log.ts';
import { type CorsOrigins, corsOrigins } from '../settings/cors-origins.ts';
import { lifetimeOf, taggingSettings } from '../settings/delivery-settings.ts';
import { followSettings } from '../settings/follow-settings.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import { connectionOf, denormaliseOf, rowCacheBytesOf } from '../settings/read-side.ts';
import { requestRules } from '../settings/request-rules.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { checkCacheToken } from './check-cache-token.ts';
import { readLoginPlan } from './login-plan.ts';
import { openOperating } from './open-operating.ts';
import { parsePublic, setPublic } from './public-rights.ts';
import { serveApp } from './serve-app.ts';
import { die, ownSignals, stopOnSignal } from './stop-on-signal.ts';

/**
 * `varve api`: resolves after reads are answered and the greeting was printed; SIGINT and SIGTERM end it with exit code
 * 0. Rejects with a message if it cannot start. `refuseUnusable` has validated `settings`.
 */
export async function serveApi(settings: ServeSettings): Promise<void> {
  const { eventStore = '' } = settings;
  const logger = await createLogger(settings);
  const contentTypes = await readContentTypes(settings, logger);
  const project = readApiConfig(settings.contentTypes);
  const pages = corsOrigins(settings, logger);
  const publicRights = parsePublic(settings.public, contentTypes.registry);
  const login = readLoginPlan(settings, logger);
  await refuseOpenHost(settings, publicRights !== undefined, login !== undefined);
  const ports = await openOperating(settings, logger);
  const stop = stopOnSignal({
    logger,
    ports,
    signals: ownSignals,
    drainSeconds: settings.drainSeconds,
  });
  const options: ApiProcessOptions = {
    ...settings,
    ...contentTypes,
    eventStore,
    operating: ports.operating,
    report: logger,
    cacheToken: logCacheToken(settings.cacheToken, logger),
    tagging: taggingSettings(settings),
    lifetime: lifetimeOf(settings),
    login,
    // The leader reads what this process does not forward.
    follow: followSettings(settings, project?.prefix ?? '/api', () => {}),
    reportTrouble: logTrouble(logger),
    rules: requestRules(settings, project, { logger, metrics: ports.operating.metrics }),
    connection: connectionOf(settings),
    denormalise: denormaliseOf(settings),
    rowCacheBytes: rowCacheBytesOf(settings),
    assets: assetsPlace(settings),
    accessKey: settings.accessKey,
  };
  const opening = openAndListen(options, { host: settings.host, port: settings.port, first: ports.first });
  // Else their ports would keep the process.
  opening.catch(ports.close);
  const [api, listener] = await opening;
  stop.with(listener, api);
  api.stopped.catch((error: unknown) => die(logger, error));
  try {
    if (publicRights !== undefined) await setPublic(api, publicRights);
    checkCacheToken(api.cacheToken, logger, true);
    ports.admit(api.access);
    const { operating } = ports;
    const greet = async () => console.log(greeting(listener.url, api, pages));
    const paths = { apiPrefix: project?.prefix ?? '/api', corsOrigins: pages.origins };
    await serveApp({ role: 'api', settings, ...paths, served: api, listener, logger, operating, greet });
  } catch (error) {
    // A signal came before the greeting: its handler closes everything.
    if (stop.isStopping()) return;
    await listener.drain(0);
    await api.close();
    await ports.close();
    throw error;
  }
}

/** Listens while there is nothing to read yet, and answers 503 until then. */
async function openAndListen(
  options: ApiProcessOptions,
  where: ListenOptions,
): Promise<[ApiProcess, Listener]> {
  const listener = await listen(where);
  try {
    return [await openApiProcess(options), listener];
  } catch (error) {
    await listener.drain(0);
    throw error;
  }
}

function greeting(url: string, { registry, access }: ApiProcess, pages: CorsOrigins): string {
  return startMessage({
    url,
    data: undefined,
    tryUrl: undefined,
    examples: undefined,
    searches: false,
    writesOnly: false,
    contentTypes: [...registry.contentTypes.values()].filter((type) => !type.builtIn).length,
    development: access.state().development,
    pages,
  });
}
