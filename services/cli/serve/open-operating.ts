import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { mayAdminister } from '../../../shared/access/rights.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { containFailures } from '../../http/answers/contain-failures.ts';
import { isLocalHost, remoteRefusal } from '../../http/requests/guard-development.ts';
import { type Listener, listen } from '../../http/sockets/listen.ts';
import { refuseRequest } from '../../http/sockets/refuse-request.ts';
import { type Activity, openActivity } from '../../operating/activity.ts';
import { METRICS } from '../../operating/metric-definitions.ts';
import { type Metrics, type MetricValues, textOfWorkers } from '../../operating/metrics.ts';
import { createOperating, type Operating, type ServingRole } from '../../operating/operating.ts';
import {
  createOperatingEndpoints,
  type MetricsAccess,
  type OperatingEndpoints,
} from '../../operating/operating-endpoints.ts';
import { asMeasurement, slowQueriesIn } from '../../operating/slow-queries.ts';
import { startTracing } from '../../operating/start-tracing.ts';
import type { ShownSlowQueries } from '../../state/state-resources.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import type { ServeSettings } from '../settings/settings.ts';

/** Health, metrics and traces of a process, and where they are served. */
export type OperatingProcess = {
  readonly operating: Operating;
  /** Figures of the last hour, of all workers. Absent: there are no metrics, or another worker keeps them. */
  readonly activity: Activity | undefined;
  /** Slow queries of all workers. */
  readonly slowQueries: ShownSlowQueries;
  /** Answers health and metrics on the port of the API. */
  readonly first: OperatingEndpoints;
  /** Called when tokens are loaded. From then on they decide who may see metrics. */
  admit(access: AccessControl): void;
  /** Closes the metrics port. */
  leave(): Promise<void>;
  /** Sends the last traces and closes the metrics port. */
  close(): Promise<void>;
};

/**
 * Opens metrics, health checks and traces, and contains failures of requests. With `--metrics-port`, metrics are only on that port, for everyone who reaches it. Otherwise
 * they are on the port of the API, for callers with full access. Rejects with a message if that port is not available.
 */
export async function openOperating(
  settings: ServeSettings,
  logger: Logger,
  supervisor: Pick<Supervisor, 'socket' | 'isGreeted' | 'restarts' | 'follows' | 'rotation'>,
  role: ServingRole,
): Promise<OperatingProcess> {
  const port = settings.operating.metricsPort;
  const version = packageVersion();
  const tracing = await startTracing(process.env, version);
  const { restarts } = supervisor;
  const operating = createOperating({ ...settings.operating, tracing, logger, version, restarts, role });
  reportContained(logger, operating.metrics);
  const { workers } = settings.network;
  const metrics = metricsOfServer(operating, workers, supervisor);
  let access: AccessControl | undefined;
  const toEveryone = createOperatingEndpoints({ ...operating, metrics, access: () => 'allowed' });
  const own = await openMetricsPort(settings.operating, supervisor, toEveryone);
  const answerHere = createOperatingEndpoints({
    readiness: operating.readiness,
    metrics: port === undefined ? metrics : undefined,
    access: (authorization) => (access === undefined ? 'starting' : accessOf(access, authorization)),
  });
  return {
    operating,
    activity: activityOf(operating.metrics, workers, supervisor),
    slowQueries: {
      thresholdMs: settings.operating.slowQueryMs,
      newest: slowQueriesOf(operating, workers, supervisor),
    },
    first: (request, response) => refuseStranger(access, request, response) || answerHere(request, response),
    admit(loaded) {
      access = loaded;
    },
    leave: async () => own?.drain(0),
    async close() {
      await tracing
        ?.close()
        .catch((error: unknown) => logger.warn({ err: error }, 'the last traces could not be sent'));
      await own?.drain(0);
    },
  };
}

/** Listens on the port for metrics, unless there is none, or another worker does. */
async function openMetricsPort(
  { metricsPort: port, metricsHost: host }: ServeSettings['operating'],
  supervisor: Pick<Supervisor, 'socket' | 'isGreeted' | 'follows'>,
  first: OperatingEndpoints,
): Promise<Listener | undefined> {
  if (port === undefined || supervisor.follows !== undefined) return undefined;
  const socket = supervisor.socket('metrics');
  const own = await listen({ host, port, option: '--metrics-port', socket, first });
  own.serve((_request, response) => response.writeHead(404).end());
  if (!supervisor.isGreeted) console.log(`Metrics and health are at ${own.url}`);
  return own;
}

/** Counts and logs the failures of requests that no code handles. */
function reportContained(logger: Logger, metrics: Metrics | undefined): void {
  const counter = metrics?.counter(METRICS.containedFailures);
  containFailures((err, { method, url, status }) => {
    counter?.add(1);
    logger.error(
      { err, method, url, status },
      'no code handled a failure of this request: please report this bug',
    );
  });
}

/** Returns the metrics to answer with: with several workers, each worker answers with the metrics of all. */
function metricsOfServer(
  { metrics: own, slowQueries }: Operating,
  workers: number,
  { rotation }: Pick<Supervisor, 'rotation'>,
): Metrics | undefined {
  if (workers === 1) return own;
  rotation.onMeasure(async () => [...((await own?.json()) ?? []), asMeasurement(slowQueries.newest())]);
  if (own === undefined) return undefined;
  return { ...own, text: async () => textOfWorkers(await rotation.metricsOfAll()) };
}

/** Returns how the newest slow queries are read: those of all workers. */
function slowQueriesOf(
  { slowQueries }: Operating,
  workers: number,
  { rotation }: Pick<Supervisor, 'rotation'>,
): ShownSlowQueries['newest'] {
  if (workers === 1) return async () => slowQueries.newest();
  return async () => slowQueriesIn((await rotation.metricsOfAll()).flat());
}

/** Keeps the figures of the last hour. With several workers, the one that is the leader keeps those of all. */
function activityOf(
  own: Metrics | undefined,
  workers: number,
  { rotation, follows }: Pick<Supervisor, 'rotation' | 'follows'>,
): Activity | undefined {
  if (own === undefined || follows !== undefined) return undefined;
  if (workers === 1) return openActivity(own.values);
  return openActivity(async (names) => {
    const all = (await rotation.metricsOfAll()).flat() as readonly MetricValues[];
    return all.filter(({ name }) => names.includes(name));
  });
}

/**
 * Refuses requests with another host name in development mode, and returns whether it did. A page can make a browser send such requests
 * here (DNS rebinding). It gets neither metrics nor the messages between processes. The routes of the API have their own guard.
 */
function refuseStranger(
  access: AccessControl | undefined,
  { url = '', headers: { host = 'localhost' } }: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (!url.startsWith('/metrics') && !url.startsWith('/_varve/')) return false;
  if (access?.state().development !== true || isLocalHost(host)) return false;
  refuseRequest(response, remoteRefusal(`to ${host}`, host));
  return true;
}

function accessOf(access: AccessControl, authorization: string | undefined): ReturnType<MetricsAccess> {
  try {
    if (mayAdminister(access.authenticate(authorization))) return 'allowed';
  } catch {
    // A sender with an invalid token is anonymous.
    return 'anonymous';
  }
  return authorization === undefined ? 'anonymous' : 'forbidden';
}
