import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { defined } from '../../shared/defined.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { TokenCommands } from '../access/token-commands.ts';
import { createDefinitionsAhead, type DefinitionsAhead } from '../content-types/definitions-ahead.ts';
import type { HeldChange } from '../content-types/pending-change.ts';
import { type Claimant, returnLease } from '../fleet/claim-lease.ts';
import { readLease } from '../fleet/lease-view.ts';
import type { Membership } from '../fleet/membership.ts';
import { takeFreeLead } from '../fleet/take-lead.ts';
import type { ForwardingOptions } from '../http/forwarding/forward-writes.ts';
import { openForwarding } from '../http/forwarding/open-forwarding.ts';
import { createApis, type ServedApi } from '../http/served-api.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { Operating } from '../operating/operating.ts';
import type { OperatorContext } from '../operator/operation.ts';
import type { RequestRules } from '../query/plan-query.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import type { ContentStore } from './content-store.ts';
import { createFreshness } from './freshness.ts';
import { createTermWatch, type TermWatch } from './watch-term.ts';
import { WRITES_ELSEWHERE } from './writes-elsewhere.ts';

/** Duties of a server while the content types of its generation are replaced. */
export type Meanwhile = {
  /** Lets requests be answered by this. `leave`: steps down for another process that takes this one's place. */
  serve(
    api: ServedApi,
    operator: OperatorContext,
    changes: readonly string[],
    leave: () => Promise<void>,
  ): Promise<void>;
  /** Has the next generation made by another process, and then taken over. */
  rebuild(operator: OperatorContext): void;
};

export type EarlierOptions = {
  readonly data: string;
  readonly space: string;
  readonly pid: number;
  readonly store: ContentStore;
  readonly pending: HeldChange;
  readonly schemaWarnings: OperatorContext['schemaWarnings'];
  readonly claimant: Claimant;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
  readonly roles: ServedApi['roles'];
  readonly login: ServedApi['login'];
  readonly assets: AssetStore;
  readonly membership: Membership;
  readonly operating: Operating;
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
  readonly minPositionWait: number;
  readonly rules: RequestRules;
  readonly meanwhile: Meanwhile;
  readonly build?: OperatorContext['build'];
  readonly bodyKey: Uint8Array;
  readonly ticketKey: Uint8Array;
  /** Brings the content types of this process into force; the graph that is served stays as it is. */
  readonly settle: (ahead: DefinitionsAhead) => Promise<unknown>;
};

/**
 * Serves the generation there is, by its own content types, until the hand-over to a process with the next one. With an index outside
 * the process another leader makes the next generation, and this resolves at once. Rejects with a sentence when the lease is lost
 * meanwhile.
 */
export async function serveEarlier(options: EarlierOptions): Promise<void> {
  const { store, pending, claimant } = options;
  const { graph } = store;
  await options.settle(createDefinitionsAhead(graph));
  // Earlier definitions were in force until here: from now on no process writes by them.
  await pending.catchUp();
  const lead = await takeFreeLead(claimant);
  if (typeof lead !== 'number') return;
  const term = createTermWatch(claimant, lead);
  await Promise.race([serveUntilReplaced(options, { lead, term }), term.over]);
}

/** `lead`: the epoch in which this process writes the indices outside. */
type Leading = { readonly lead: number; readonly term: TermWatch };

async function serveUntilReplaced(options: EarlierOptions, leading: Leading): Promise<never> {
  const { store, pending, meanwhile, operating, data, space, pid } = options;
  const { generations, graph, log } = store;
  const { indices, changes } = pending;
  const readSide = await generations.openEarlier(indices);
  const failed = Promise.withResolvers<never>();
  readSide.done.catch(failed.reject);
  await readSide.lead(leading.lead);
  const leave = async () => {
    leading.term.close();
    await readSide.retire();
    await returnLead(options);
  };
  const operator: OperatorContext = {
    data,
    space,
    log,
    graph,
    generations,
    server: { pid },
    schemaWarnings: options.schemaWarnings,
    ...(options.build && { build: options.build }),
    readSide: async () => readSide,
  };
  await meanwhile.serve(createEarlierApi(options, readSide), operator, changes, leave);
  operating.readiness.serving(async () => 0);
  operating.readiness.note(
    'The content types have changed: reads continue as before until the new read model is live',
  );
  readSide.announce();
  meanwhile.rebuild(operator);
  return failed.promise;
}

/** Steps down, if settling the content types made this process leader. */
async function returnLead({ claimant }: EarlierOptions): Promise<void> {
  const lease = await readLease(claimant.log, claimant.space);
  if (lease.leader?.owner === claimant.owner) await returnLease(claimant, lease);
}

/**
 * Reads as they were before the content types changed, also when another generation has taken over; writes wait for that, and
 * are a 503 after a while.
 */
function createEarlierApi(options: EarlierOptions, readSide: ReadSide): ServedApi {
  const { store, access, operating, defaultLocale, usersEnvelope, rules } = options;
  const { tracing, observeQuery } = operating;
  const shown = store.graph.position();
  const index = traceReadIndex({ ...readSide.index, position: () => shown }, tracing);
  const registry = store.graph.registry();
  const { membership } = options;
  return {
    registry,
    access,
    tokens: options.tokens,
    roles: options.roles,
    ticketKey: options.ticketKey,
    ...defined({ login: options.login }),
    assets: { store: options.assets, index, space: options.space },
    freshness: createFreshness({
      readSide: { index, sink: readSide.sink, shows: readSide.shows },
      access,
      log: store.log,
      waitMs: options.minPositionWait,
    }),
    // The API that follows has the counter.
    forwarding: openForwarding({
      fleet: NOBODY_LEADS,
      membership,
      bodyKey: options.bodyKey,
      metrics: undefined,
    }),
    apiFor: createApis({
      registry,
      index,
      defaultLocale,
      usersEnvelope,
      rules,
      observe: observeQuery,
      delivery: { version: operating.version },
      writes: WRITES_ELSEWHERE,
    }),
  };
}

/** Commands are carried out by who has the new content types in its graph: nobody yet. */
const NOBODY_LEADS: ForwardingOptions['fleet'] = {
  leader: () => ({ kind: 'nobody' }),
  changed: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
};
