import type { RequestListener } from 'node:http';
import { appliedUpTo } from '../../../projections/graph/projector.ts';
import { createCondition } from '../../../shared/condition.ts';
import { valueAt } from '../../../shared/map-values.ts';
import { answerStarting } from '../../http/sockets/answer-starting.ts';
import { type CallerAddress, createCallerAddress } from '../../http/sockets/caller-address.ts';
import { type Listener, listen } from '../../http/sockets/listen.ts';
import { proxyRequests } from '../../http/sockets/proxy-requests.ts';
import type { Operating } from '../../operating/operating.ts';
import { readStatus } from '../../operator/status.ts';
import { openVarve, type Varve } from '../../process/open-varve.ts';
import { AS_OF } from '../../query/root-parameters.ts';
import { logAddress } from '../../stores/open-event-store.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import type { Follows } from '../../supervisor/protocol.ts';
import type { Rotation } from '../../supervisor/rotation.ts';
import { chooseReadSide, readSideSettings } from '../settings/read-side.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { outputLimits } from '../settings/worker-settings.ts';
import { openOperating } from './open-operating.ts';
import { serveApp } from './serve-app.ts';
import { readWorkerPlan, type ServerPlan } from './server-plan.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { makeWorkerFolder } from './worker-folder.ts';
import { workerOptions } from './worker-options.ts';

/**
 * Runs a reading worker: it answers reads from its own read model, and forwards writes. Resolves when it is in rotation. It never becomes
 * leader: if the leader ends, the supervisor starts another.
 */
export async function serveReads(
  settings: ServeSettings,
  supervisor: Supervisor,
  follows: Follows,
): Promise<void> {
  const { rotation } = supervisor;
  const plan = await readWorkerPlan(settings);
  const { logger } = plan;
  const ports = await openOperating(settings, logger, supervisor, 'serve');
  const { drainSeconds } = settings.operating;
  const callers = createCallerAddress(supervisor.secret);
  const stop = stopOnSignal({ logger, ports, callers, signals: supervisor.onStop, drainSeconds });
  const listener = await listen({
    host: settings.network.host,
    port: settings.network.port,
    socket: rotation.sharedSocket,
    first: ports.first,
    limits: outputLimits(settings.network.workers),
  });
  const readSide = await chooseReadSide({ ...readSideSettings(settings), isReader: true }, logger, true);
  const basis = { ...plan, readSide, operating: ports.operating };
  const options = await workerOptions(settings, supervisor, basis);
  const varve = await openVarve({
    ...options,
    data: {
      ...options.data,
      data: makeWorkerFolder(settings.data.data, follows),
      eventStore: logAddress(settings.data),
    },
    // The copy is complete: nothing is replaced or converted.
    fleet: { ...options.fleet, generation: 1, mayLead: false, address: listener.url },
  });
  stop.with(listener, varve);
  // `next` forwards requests to the process that answers them from then on. It is undefined if the server stops.
  // Never rejects: the listener is left once.
  void listener.left.then((next) => next !== undefined && rotation.left());
  ports.admit(varve.access);
  await answerReads(basis, { varve, listener, rotation, callers });
  logger.info({ worker: follows.number }, 'this worker answers reads');
}

type Reading = {
  readonly varve: Varve;
  readonly listener: Listener;
  readonly rotation: Rotation;
  readonly callers: CallerAddress;
};

async function answerReads(
  { settings, paths, logger, operating }: ServerPlan & { readonly operating: Operating },
  { varve, listener, rotation, callers }: Reading,
): Promise<void> {
  const { log } = varve.operator;
  await serveApp({
    role: 'serve',
    settings,
    ...paths,
    served: varve,
    listener,
    logger,
    operating,
    // The leader answers what is shown of the server: see ADMINISTRATION.
    shows: {
      state: () => readStatus(varve.operator),
      log,
      activity: undefined,
      slowQueries: undefined,
      settings: undefined,
    },
    rotation,
    acknowledged: async () => rotation.shown(await log.lastPosition()),
    watched: (handler) => callers.admit(leaveAdministration(handler, varve, callers)),
    greet: () => enterRotation(rotation, varve),
  });
}

/**
 * Adds this worker to the rotation. First, writes begin to wait for this worker. Then it catches up with all writes that were acknowledged
 * before. Only then it gets connections, so its readers miss no acknowledged write.
 */
async function enterRotation(
  rotation: Rotation,
  { freshness, access, search: { synonyms }, operator: { log, graph } }: Varve,
): Promise<void> {
  const applied = () => appliedUpTo(graph, freshness.position());
  const moved = createCondition();
  let shows = -1n;
  await rotation.join();
  const alive = rotation.live(() => shows);
  const follow = async () => {
    for (;;) {
      const next = applied();
      while (!(await access.applied(next, ACCESS_MS)));
      while (!(await synonyms.applied(next, ACCESS_MS)));
      shows = next;
      alive.moved();
      moved.check();
      while (!(await freshness.beyond(next)));
    }
  };
  // Ends the process if it fails: this worker would answer with old content, and writes would wait for it.
  void follow();
  const head = await log.lastPosition();
  await moved.until(() => shows >= head);
  await rotation.accept();
}

const ACCESS_MS = 1_000;

/** Requests about the server itself, such as tokens and webhooks. The leader answers them, because it has their state. */
const ADMINISTRATION =
  /^\/(_varve\/(tokens|public|roles|login|synonyms|rules|searches|webhooks|releases|erasures|operations|projections|activity|slow-queries|events|settings|timegate)|(docs\/)?openapi\.json)(?![\w-])/i;

/** Reads as of a moment. The leader has the processes that answer them. */
const PAST = `${AS_OF}=`;

function leaveAdministration(
  handler: RequestListener,
  { fleet }: Pick<Varve, 'fleet'>,
  callers: CallerAddress,
): RequestListener {
  const senders = new Map<string, RequestListener>();
  return (request, response) => {
    const { url = '' } = request;
    // These checks are cheap for other requests, because no path of the content API begins like these.
    const isElsewhere = url.includes(PAST) || (!url.startsWith('/api/') && ADMINISTRATION.test(url));
    if (!isElsewhere) return handler(request, response);
    const led = fleet.leader();
    if (led.kind !== 'elsewhere') return answerStarting(request, response);
    const { address } = led.leader;
    valueAt(senders, address, () => proxyRequests(address, callers))(request, response);
  };
}
