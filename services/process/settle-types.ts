import { setTimeout as delay } from 'node:timers/promises';
import { NO_LEASE, type Successor } from '../../shared/fleet/lease.ts';
import { RequestError } from '../../shared/request-error.ts';
import { changeAhead } from '../content-types/change-ahead.ts';
import { type OwnTypes, ownTypes, typesOfGraph } from '../content-types/deferred-change.ts';
import {
  createDefinitionsAhead,
  type DefinitionsAhead,
  notInForce,
} from '../content-types/definitions-in-force.ts';
import type { OpenedChange } from '../content-types/pending-change.ts';
import { refuseOtherDefaultLocale } from '../content-types/refuse-other-default-locale.ts';
import {
  refuseOtherTypes,
  type SettleOptions,
  settleContentTypes,
} from '../content-types/settle-content-types.ts';
import type { Claimant } from '../fleet/claim-lease.ts';
import { readLease } from '../fleet/lease-view.ts';
import { claimFreeLease, returnOwnLease } from '../fleet/require-lease.ts';
import type { ForwardingOptions } from '../http/forwarding/forward-writes.ts';
import type { ServedApi } from '../http/served-api.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import { checkTypesChange } from '../state/watch-rebuild.ts';
import { checkTypes } from '../state/watch-types.ts';
import { composeProcess } from './compose-process.ts';
import { createFreshness } from './freshness.ts';
import type { Opened } from './opened.ts';
import { type OwnBase, operatorContext } from './own-content.ts';
import type { InterimDuties, VarveOptions } from './process-options.ts';
import { WRITES_ELSEWHERE } from './writes-elsewhere.ts';

/** Resolves when the content types that this process serves are in force (see settleContentTypes). */
export async function settleTypes(options: VarveOptions, base: OwnBase, opened: Opened): Promise<OwnTypes> {
  const { store, claimant } = base;
  const { graph, generations, pending } = store;
  const own = ownTypes(graph, options);
  const wait = createTypesWait(options);
  const settling = {
    claimant,
    definitions: own.definitions,
    waiting: wait.began,
    refuse: refusalOf(options, graph),
  };
  if (pending !== undefined && options.meanwhile !== undefined) {
    const earlier = { options, base, pending, meanwhile: options.meanwhile };
    await serveEarlier(earlier, (ahead) => settleContentTypes({ ...settling, graph: ahead }), opened);
  }
  if (options.turn === undefined && options.generation !== undefined)
    refuseOtherTypes(own.definitions, graph);
  const ahead = await changeAhead({ ...store, definitions: own.definitions });
  await options.turn?.();
  const isDeferred = store.deferred.length > 0;
  await settleContentTypes({ ...settling, graph: ahead.graph, isDeferred });
  wait.over();
  await ahead.finish();
  if (!isDeferred) return own;
  generations.deferChange();
  return typesOfGraph(graph);
}

/** Returns the check of changed definitions. A worker that replaces another one has the definitions that the other one has checked. */
function refusalOf(
  { generation, refuseLosses }: VarveOptions,
  graph: OwnBase['store']['graph'],
): SettleOptions['refuse'] {
  if (generation !== undefined) return () => {};
  return (changed) => {
    refuseOtherDefaultLocale(changed, graph);
    refuseLosses(graph.effectsOf(changed));
  };
}

/** Reports that this process waits because its content types are not in force, and when that is over. */
function createTypesWait({ fleetLog, operating }: Pick<VarveOptions, 'fleetLog' | 'operating'>) {
  let over = () => {};
  return {
    began(differences: readonly string[], leader: string): void {
      fleetLog.waiting(differences, leader);
      over = operating.conditions.watch(checkTypes(differences, leader));
    },
    over: () => over(),
  };
}

/** A process whose content types will change, and the generation that it serves until then. */
type Earlier = {
  readonly options: VarveOptions;
  readonly base: OwnBase;
  readonly pending: OpenedChange;
  readonly meanwhile: InterimDuties;
};

/**
 * Serves the existing generation with its own content types, until the hand-over to a process with the next generation. With an index
 * outside the process another leader makes the next generation, and this resolves at once. Rejects with a message if the lease is lost in
 * the meantime. `settle` brings the content types of this process into force, and does not change the graph that is served.
 */
async function serveEarlier(
  earlier: Earlier,
  settle: (ahead: DefinitionsAhead) => Promise<unknown>,
  opened: Opened,
): Promise<void> {
  const { base, pending } = earlier;
  await settle(createDefinitionsAhead(base.store.graph));
  // Earlier definitions were in force until here. From now on no process writes with them.
  await pending.catchUp();
  const lead = await claimFreeLease(base.claimant);
  if (typeof lead !== 'number') return;
  const term = opened(createTermWatch(base.claimant, lead));
  await Promise.race([serveUntilReplaced(earlier, { lead, term }, opened), term.over]);
}

/** `lead`: the epoch in which this process writes the indices outside. */
type Leading = { readonly lead: number; readonly term: TermWatch };

async function serveUntilReplaced(earlier: Earlier, { lead, term }: Leading, opened: Opened): Promise<never> {
  const { options, base, pending, meanwhile } = earlier;
  const { generations } = base.store;
  const readSide = await generations.openEarlier(pending.indices);
  const failed = Promise.withResolvers<never>();
  // The read side may fail before anything waits for this promise.
  failed.promise.catch(() => {});
  readSide.done.catch(failed.reject);
  await readSide.lead(lead);
  const operator = operatorContext(options, base.store, readSide);
  const leave = leaveOnce(readSide, base.claimant, term);
  opened({ close: () => leave() });
  let isEnding = false;
  const refuseWrites = () => {
    if (isEnding) throw new RequestError('no-leader', LEFT);
  };
  // This part is closed before the index that answers requests.
  opened({
    close() {
      isEnding = true;
      return meanwhile.end();
    },
  });
  await meanwhile.serve(createEarlierApi(earlier, readSide, refuseWrites), operator, pending.changes, leave);
  const { readiness, conditions } = options.operating;
  conditions.watch(checkTypesChange(generations.store.rebuild));
  readiness.serving(async () => 0);
  readiness.note(
    'The content types have changed: reads are answered as before until the new read model is live',
  );
  readSide.announce();
  // A return to the types that are served must bring writes back, even if documents differ. The log names these.
  const isReturn = notInForce(options.definitions, base.store.graph.definition).length === 0;
  meanwhile.rebuild(operator, isReturn);
  return failed.promise;
}

/** Steps down for another process, which writes other indices from now on. */
function leaveOnce(
  readSide: ReadSide,
  claimant: Claimant,
  term: TermWatch,
): (successor?: Successor) => Promise<void> {
  let left: Promise<void> | undefined;
  const leave = async (successor: Successor | undefined) => {
    term.close();
    await readSide.retire();
    // Settling the content types made this process the leader.
    await returnOwnLease(claimant, successor);
  };
  return (successor) => {
    left ??= leave(successor);
    return left;
  };
}

/**
 * Creates an API that answers reads as before the change of content types, even after another generation is live. Writes wait for that
 * generation, and get a 503 after a time limit.
 */
function createEarlierApi(
  { options, base }: Earlier,
  readSide: ReadSide,
  refuseWrites: () => void,
): ServedApi {
  const { store, identity, callers, assets } = base;
  const shown = store.graph.position();
  const index = traceReadIndex({ ...readSide.index, position: () => shown }, options.operating.tracing);
  const freshness = createFreshness({
    readSide: { index, sink: readSide.sink, shows: readSide.shows },
    access: callers.access,
    log: store.log,
    waitMs: options.minPositionWait,
  });
  return composeProcess('earlier', {
    options,
    identity,
    callers,
    assets,
    content: { registry: store.graph.registry(), index, freshness },
    writing: { fleet: NOBODY_LEADS, writes: WRITES_ELSEWHERE, refuseWrites },
  });
}

const LEFT = 'Another process is the leader now, and this process is stopping: writes are not possible here';

/** No process carries out commands yet, because none has the new content types in its graph. */
const NOBODY_LEADS: ForwardingOptions['fleet'] = {
  leader: () => ({ kind: 'nobody' }),
  changed: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
};

/** Watches whether a claim of the lease is still the newest, for a process that does not apply the log yet. */
type TermWatch = ReturnType<typeof createTermWatch>;

const LOOK_EVERY_MS = 1_000;
const OVER =
  'another process became the leader while the read model for the new content types was being built: start this process again';

/** Checks once a second whether a newer epoch was claimed, until it is closed. */
function createTermWatch({ log, space }: Pick<Claimant, 'log' | 'space'>, epoch: number) {
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const closing = new AbortController();
  const { signal } = closing;
  const watch = async () => {
    for (let lease = NO_LEASE; !signal.aborted; ) {
      // If the log cannot be read at the moment, the known lease stays.
      lease = await readLease(log, space, lease).catch(() => lease);
      // This process may have stepped down in the meantime, for the process that has the lease now.
      if (lease.epoch > epoch && !signal.aborted) return over.reject(new Error(OVER));
      await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  // Never rejects: a log that cannot be read is read again.
  void watch();
  return {
    /** Rejects with a message when another process has claimed the lease; never resolves. */
    over: over.promise,
    close: () => closing.abort(),
  };
}
