import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { parseAllow } from '../../shared/access/parse-allow.ts';
import type { Right } from '../../shared/access/rights.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { createPresence } from '../fleet/presence.ts';
import { createApp } from '../http/create-app.ts';
import { type Listener, type ListenOptions, listen } from '../http/listen.ts';
import { openVarve, type Varve, type VarveOptions } from '../main.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import { observeRequests } from '../operating/observe-requests.ts';
import type { Operating } from '../operating/operating.ts';
import { type OperatorListener, openOperatorListener } from '../operator/operator-listener.ts';
import { readStatus } from '../operator/status.ts';
import { refuseOpenHost } from './access-log.ts';
import { createLogger } from './create-logger.ts';
import { findExampleRequest } from './example-request.ts';
import { logFleet } from './log-fleet.ts';
import { type OperatingProcess, openOperating } from './open-operating.ts';
import { packageVersion } from './package-version.ts';
import { reachableUrl } from './reachable-url.ts';
import { readContentTypes } from './read-content-types.ts';
import { chooseReadSide } from './read-side.ts';
import { InvalidSettings, type ServeSettings } from './settings.ts';
import { startMessage } from './start-message.ts';
import { writeExamples } from './write-examples.ts';

/**
 * `varve serve`: resolves once the server serves and has said so; SIGINT and SIGTERM end it with exit code 0. Rejects with a
 * sentence when it cannot start.
 */
export async function serve(settings: ServeSettings): Promise<void> {
  const logger = await createLogger(settings);
  const contentTypes = readContentTypes(settings.contentTypes, logger);
  const publicRights = parsePublic(settings.public, contentTypes.registry);
  await refuseOpenHost(settings, publicRights !== undefined);
  const readSide = await chooseReadSide(settings, logger);
  const told = await openOperating(settings, logger);
  const operators = await openOperatorListener();
  const stop = stopOnSignal(logger, settings.drainSeconds, told, operators);
  const { operating, first } = told;
  const presence = createPresence();
  const options = {
    ...{ ...settings, ...contentTypes, readSide, operating, channel: operators.channel },
    ...{ owner: presence.owner, fleetLog: logFleet(logger) },
  };
  const opening = openAndListen(options, {
    host: settings.host,
    port: settings.port,
    first: (request, response) => presence.answer(request, response) || first(request, response),
  });
  // Else their ports would keep the process.
  opening.catch(() => Promise.all([told.close(), operators.close()]));
  const [varve, listener] = await opening;
  stop.with(listener, varve);
  presence.of(varve.fleet);
  varve.stopped.catch((error: unknown) => die(logger, error));
  operators.serve(varve.operator);
  try {
    if (publicRights !== undefined) await setPublic(varve, publicRights);
    told.admit(varve.access);
    await serveApp(settings, varve, listener, logger, operating);
  } catch (error) {
    // A signal came before the greeting was out: whoever handles it closes everything.
    if (stop.isStopping()) return;
    await operators.close();
    await listener.drain(0);
    await varve.close();
    await told.close();
    throw error;
  }
}

async function serveApp(
  settings: ServeSettings,
  varve: Varve,
  listener: Listener,
  logger: Logger,
  { metrics, tracing }: Operating,
): Promise<void> {
  let isGreeted = false;
  const app = await createApp({
    registry: varve.registry,
    access: varve.access,
    tokens: varve.tokens,
    apiFor: varve.apiFor,
    assets: varve.assets,
    freshness: varve.freshness,
    status: () => readStatus(varve.operator),
    logger,
    bodyLimit: settings.bodyLimit,
    protection: {
      corsOrigins: settings.cors,
      rateLimit: settings.rateLimit,
      isLimiting: () => isGreeted,
    },
    trustProxy: settings.trustProxy ?? false,
    docs: { version: packageVersion(), usersEnvelope: settings.usersEnvelope },
    meters: { durations: metrics?.durations(METRICS.httpRequests), tracing },
  });
  listener.serve(observeRequests((request, response) => app.routing(request, response), tracing));
  await greet(settings, listener.url, varve);
  isGreeted = true;
}

/** What `--public` says; undefined: nothing. Throws InvalidSettings with every problem. */
function parsePublic(text: string | undefined, registry: SchemaRegistry): readonly Right[] | undefined {
  if (text === undefined) return undefined;
  const parsed = parseAllow(text, registry);
  if (parsed.kind === 'allowed') return parsed.allowed;
  throw new InvalidSettings(
    parsed.problems.map((problem) => `  --public (VARVE_PUBLIC) ${problem}`).join('\n'),
  );
}

async function setPublic({ tokens, access }: Varve, allow: readonly Right[]): Promise<void> {
  const { position } = await tokens.setPublic(allow);
  if (position !== undefined) await access.applied(position);
}

/** Listens while the data is being loaded, and answers 503 until then. With the data in vain it listens no more. */
async function openAndListen(
  options: Omit<VarveOptions, 'address'> & Pick<ServeSettings, 'advertise'>,
  where: ListenOptions,
): Promise<[Varve, Listener]> {
  const listener = await listen(where);
  try {
    const address = options.advertise ?? reachableUrl(listener.url);
    return [await openVarve({ ...options, address }), listener];
  } catch (error) {
    await listener.drain(0);
    throw error;
  }
}

async function greet(settings: ServeSettings, url: string, varve: Varve): Promise<void> {
  const folder = join(settings.contentTypes, 'entries');
  const { development } = varve.access.state();
  const writes = development && settings.examples && varve.isNew && existsSync(folder);
  const examples = writes ? await writeExamples(url, folder, varve.registry) : undefined;
  const message = startMessage({
    url,
    data: resolve(settings.data),
    contentTypes: [...varve.registry.contentTypes.values()].filter((type) => !type.builtIn).length,
    tryUrl: development ? await findExampleRequest(url, varve.registry) : undefined,
    development,
    examples,
  });
  console.log(message);
}

type Stopper = { with(listener: Listener, varve: Varve): void; isStopping(): boolean };

/** The first signal answers what is under way and closes everything; a second one ends the process at once. */
function stopOnSignal(
  logger: Logger,
  drainSeconds: number,
  { operating, close }: OperatingProcess,
  operators: OperatorListener,
): Stopper {
  let running: { readonly listener: Listener; readonly varve: Varve } | undefined;
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    operating.readiness.draining();
    await operators.close();
    await running?.listener.drain(drainSeconds * 1000);
    await running?.varve.close();
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void stop(signal).catch((error: unknown) => die(logger, error)));
  }
  return {
    with(listener, varve) {
      running = { listener, varve };
    },
    isStopping: () => stopping,
  };
}

/** What is shown would fall behind what is stored: nothing is served rather than something stale. */
function die(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, 'the server cannot go on');
  process.exit(1);
}
