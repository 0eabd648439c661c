import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { openOperatorListener } from '../../http/operator-listener.ts';
import { createCallerAddress } from '../../http/sockets/caller-address.ts';
import { createRecentRequests } from '../../http/sockets/recent-requests.ts';
import { createRequestGate } from '../../http/sockets/request-gate.ts';
import type { Varve } from '../../process/open-varve.ts';
import type { SettingsInForce } from '../../state/settings-in-force.ts';
import { isFirstWorker, type Supervisor } from '../../supervisor/connect-supervisor.ts';
import { logFollower } from '../output/log-follower.ts';
import { followSettings } from '../settings/follow-settings.ts';
import { purgeChoice } from '../settings/purge-settings.ts';
import { chooseReadSide, readSideSettings } from '../settings/read-side.ts';
import { createBuilder } from './builder.ts';
import { openLeadingWorker } from './leading-worker.ts';
import type { OperatingProcess } from './open-operating.ts';
import { createRenewal } from './renewal.ts';
import type { ServerPlan } from './server-plan.ts';
import type { Stopper } from './stop-on-signal.ts';
import { workerOptions } from './worker-options.ts';

/** Settings of the worker that is the leader, checked before anything is opened. */
export type LeadingPlan = Awaited<ReturnType<typeof readLeadingPlan>>;

/** Checks the settings. Rejects with a message about the first wrong setting. */
export async function readLeadingPlan(
  plan: ServerPlan,
  { role, shown }: { readonly role: 'serve' | 'project'; readonly shown: () => SettingsInForce },
  supervisor: Supervisor,
) {
  const { settings, logger, paths } = plan;
  const follow = followSettings(
    { ...settings.following, login: settings.login.login },
    paths.apiPrefix,
    logFollower(logger),
  );
  const readSide = await chooseReadSide(readSideSettings(settings), logger, !isFirstWorker(supervisor));
  const purges = purgeChoice({ ...settings.caches, ...settings.elasticsearch });
  const callers = createCallerAddress(supervisor.secret);
  return { ...plan, role, shown, supervisor, callers, follow, readSide, purges };
}

/** Parts of the worker that is the leader. They are opened before its data. */
export type LeadingParts = Awaited<ReturnType<typeof openLeadingParts>>;

/**
 * Opens the parts, and registers each with `stop`. `shared`: options of all workers. `leading`: undefined with one worker. `first` answers
 * requests about the process itself.
 */
export async function openLeadingParts(plan: LeadingPlan, ports: OperatingProcess, stop: Stopper) {
  const { settings, supervisor, contentTypes } = plan;
  const operators = await openOperatorListener({
    secret: supervisor.secret,
    socket: supervisor.socket('operators'),
  });
  stop.first(operators);
  const builder = createBuilder(settings, contentTypes.definitions);
  stop.first(builder);
  const renewal = createRenewal(plan.logger, supervisor);
  stop.first(renewal);
  const shared = await workerOptions(settings, supervisor, { ...plan, operating: ports.operating });
  stop.departing(shared.worker.processes.leave);
  const gate = createRequestGate();
  const first = (request: IncomingMessage, response: ServerResponse) =>
    ports.first(request, response) ||
    shared.fleet.presence.answer(request, response) ||
    shared.worker.processes.answer(request, response);
  const leading = await openLeadingWorker(settings, supervisor, first);
  if (leading !== undefined) stop.first(leading);
  const recent = createRecentRequests();
  return { ...plan, ports, stop, operators, builder, renewal, recent, gate, shared, leading, first };
}

/** Wraps the handler of requests: records recent requests, lets requests wait at the gate, and accepts requests of other workers. */
export function watchRequests(
  { recent, gate, leading, callers }: LeadingParts,
  handler: RequestListener,
): RequestListener {
  const guarded = callers.admit(recent.watch(gate.guard(handler)));
  leading?.serve(guarded);
  return guarded;
}

/**
 * Reports to the supervisor that this worker serves. From now on a crashed worker is replaced. If there is a graph for them, the supervisor
 * starts the other workers.
 */
export function reportServing({ settings, supervisor, leading }: LeadingParts, served?: Varve): void {
  const { logLevel, logFormat, drainSeconds } = settings.operating;
  supervisor.serving({ logLevel, logFormat }, drainSeconds * 1_000, served && leading?.followers(served));
}
