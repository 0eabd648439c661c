import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { EventMetadata, NewEvent, OrderedAppend } from '../../shared/event-store/event-store.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { Locks } from '../../shared/locks.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { type ActionPlan, planAction, refuseActionWithoutDrafts } from './action-plan.ts';
import type { Author } from './command.ts';
import { documentLock } from './commit.ts';
import type { DocumentState } from './decide.ts';
import type { CommandEnvironment, PlanningEnvironment } from './environment.ts';
import { newEvents } from './new-events.ts';
import { NotLeading } from './not-leading.ts';
import type { BodyProblem } from './problem.ts';
import { uncertainAppends } from './uncertain-appends.ts';
import { claimKey, type UniqueClaim, uniqueProblems } from './unique-values.ts';

/** Action on an entry. `locale`: null without i18n, `*` for every locale that the document has. */
export type TogetherAction = {
  readonly type: 'publish' | 'unpublish';
  readonly contentType: Uid;
  readonly entryDocumentId: string;
  readonly locale: string | null;
};

/** Reason why an action is refused. */
export type RefusedAction = { readonly action: TogetherAction; readonly reason: string };

export type TogetherRequest = {
  readonly actions: readonly TogetherAction[];
  /** Name of the command in the metadata of its events. */
  readonly command: string;
  readonly author: Author;
  readonly via: string;
  /** Returns an append that is stored after those of the documents. It notes that the actions were carried out. */
  readonly record: (metadata: Omit<EventMetadata, 'schemaVersion'>) => OrderedAppend;
};

export type TogetherOutcome =
  | { readonly kind: 'stored'; readonly position: bigint }
  /** Nothing was stored. */
  | { readonly kind: 'refused'; readonly refused: readonly RefusedAction[] }
  /** Nothing was stored, because the stream of `record` is at another revision. */
  | { readonly kind: 'changed'; readonly actual: bigint | undefined };

/** Publishes and unpublishes entries of many documents: all of them or none. */
export type Together = {
  /** Returns the actions that would be refused now. */
  check(actions: readonly TogetherAction[]): Promise<readonly RefusedAction[]>;
  /**
   * Resolves when the graph shows the events, which are stored in one append. Throws NotLeading, and RequestError if the log cannot be
   * used. The event store must check conditions.
   */
  carryOut(request: TogetherRequest): Promise<TogetherOutcome>;
};

const ATTEMPTS = 5;
/** Actions that are planned in one turn of the event loop. */
const PIECE = 25;

/** Creates the write side of actions on many documents. It shares `locks` with the commands on one document. */
export function createTogether(environment: CommandEnvironment, locks: Locks): Together {
  return {
    check: async (actions) => refusedOf(environment, await planAll(environment, actions)).refused,
    async carryOut(request) {
      const release = await locks.acquire(documentsOf(request.actions).map(lockKey));
      try {
        return await attemptAll(environment, locks, request);
      } finally {
        release();
      }
    },
  };
}

/** Returns the events of the actions on the graph as it is; undefined if one of them is refused, because nothing is stored then. */
export async function decideTogether(
  environment: PlanningEnvironment,
  actions: readonly TogetherAction[],
): Promise<readonly DocumentEvent[] | undefined> {
  const { refused, events } = refusedOf(environment, await planAll(environment, actions));
  return refused.length > 0 ? undefined : [...events.values()].flatMap((each) => each.events);
}

async function attemptAll(
  environment: CommandEnvironment,
  locks: Locks,
  request: TogetherRequest,
): Promise<TogetherOutcome> {
  const { eventStore, applied } = environment;
  const seen = new Map<string, bigint>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const lead = environment.lead();
    const plans = await planAll(environment, request.actions);
    const outcome = await locks.run(claimsOf(plans).map(claimKey), async () => {
      await uncertainAppends(environment).settle();
      const { refused, events } = refusedOf(environment, plans);
      if (refused.length > 0) return { kind: 'refused', refused } as const;
      const stored = await append(environment, request, lead, { events, seen });
      if (stored.kind !== 'appended') return stored;
      await applied(stored.position);
      return { kind: 'stored', position: stored.position } as const;
    });
    if (outcome.kind === 'stored' || outcome.kind === 'refused') return outcome;
    if (outcome.kind === 'fenced') {
      await eventStore.lastPosition().then(applied);
      throw new NotLeading();
    }
    if (outcome.isRecord) return { kind: 'changed', actual: outcome.actual };
    if (outcome.actual !== undefined) seen.set(outcome.stream, outcome.actual);
    // Another process wrote to a document. The actions are planned again when the graph has applied that event.
    await applied(await eventStore.lastPosition());
  }
  throw new RequestError('document-contended', 'A document is being changed at the same time, try again');
}

/** A planned action, or the reason why there is no plan. */
type Planned =
  | { readonly action: TogetherAction; readonly reason: string }
  | { readonly action: TogetherAction; readonly state: DocumentState; readonly plan: ActionPlan };

async function planAll(
  environment: PlanningEnvironment,
  actions: readonly TogetherAction[],
): Promise<readonly Planned[]> {
  const planned: Planned[] = [];
  for (const [n, action] of actions.entries()) {
    if (n > 0 && n % PIECE === 0) await nextTurn();
    planned.push(planOne(environment, action));
  }
  return planned;
}

function planOne(environment: PlanningEnvironment, action: TogetherAction): Planned {
  const { contentType: uid, entryDocumentId: documentId, type: kind, locale } = action;
  const type = environment.registry().contentTypes.get(uid);
  if (type === undefined) return { action, reason: `There is no content type ${uid}` };
  const state = { type, documentId, entries: environment.graph.entries(uid, documentId) };
  const plan = withReason(() => {
    refuseActionWithoutDrafts(type, { kind });
    return planAction(environment, state, { kind, locale });
  });
  return typeof plan === 'string' ? { action, reason: plan } : { action, state, plan };
}

function withReason<Value>(work: () => Value): Value | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof RequestError) return reasonOf(error);
    throw error;
  }
}

/** Returns the reason of a refusal as one text. */
function reasonOf({ code, message, details }: RequestError): string {
  if (code === 'not-found') return 'The entry does not exist';
  const errors = (
    details as { readonly errors?: readonly { readonly path: readonly string[]; readonly message: string }[] }
  ).errors;
  if (errors === undefined) return message;
  return errors.map((each) => [each.path.join('.'), each.message].filter(Boolean).join(': ')).join('; ');
}

function claimsOf(planned: readonly Planned[]): readonly UniqueClaim[] {
  return planned.flatMap((each) => ('reason' in each ? [] : each.plan.claims));
}

/** Events of the actions by document; and the actions that are refused. */
type Decided = {
  readonly refused: readonly RefusedAction[];
  readonly events: ReadonlyMap<string, { readonly state: DocumentState; readonly events: DocumentEvent[] }>;
};

function refusedOf(environment: PlanningEnvironment, planned: readonly Planned[]): Decided {
  const takenBy = createTaken(environment, planned);
  const refused: RefusedAction[] = [];
  const events = new Map<string, { readonly state: DocumentState; readonly events: DocumentEvent[] }>();
  for (const each of planned) {
    if ('reason' in each) {
      refused.push(each);
      continue;
    }
    const { action, state, plan } = each;
    const decided = withReason(() => plan.decide((claims) => takenBy(claims, state)));
    if (typeof decided === 'string') {
      refused.push({ action, reason: decided });
      continue;
    }
    const key = lockKey(action);
    const known = events.get(key) ?? { state, events: [] };
    known.events.push(...decided);
    events.set(key, known);
  }
  return { refused, events };
}

/**
 * Returns the check of unique values after all actions: a value that two of the documents claim is taken. A value of a row that an action
 * removes or replaces is free.
 */
function createTaken({ graph }: PlanningEnvironment, planned: readonly Planned[]) {
  const claimants = new Map<string, Set<string>>();
  const freed = new Set<string>();
  const rowOf = (type: Uid, documentId: string, locale: string | null) =>
    JSON.stringify([type, documentId, locale]);
  for (const each of planned) {
    if ('reason' in each) continue;
    const { state, plan } = each;
    for (const locale of plan.locales) freed.add(rowOf(state.type.uid, state.documentId, locale));
    for (const claim of plan.claims) {
      const key = claimKey(claim);
      claimants.set(key, (claimants.get(key) ?? new Set()).add(state.documentId));
    }
  }
  const remaining: Parameters<typeof uniqueProblems>[0] = {
    documentWithUnique(claim, except) {
      const owner = graph.documentWithUnique(claim, except);
      const isFree = owner !== undefined && freed.has(rowOf(claim.type, owner, claim.locale));
      return isFree ? undefined : owner;
    },
  };
  return (claims: readonly UniqueClaim[], { documentId }: DocumentState): readonly BodyProblem[] =>
    uniqueProblems(remaining, claims, documentId, (claim) => (claimants.get(claimKey(claim))?.size ?? 0) > 1);
}

type Attempt = {
  readonly events: Decided['events'];
  /** Revisions that conflicts have reported, by stream. */
  readonly seen: ReadonlyMap<string, bigint>;
};

async function append(
  environment: CommandEnvironment,
  { command, author, via, record }: TogetherRequest,
  { epoch, fence }: Lead,
  { events, seen }: Attempt,
) {
  const { space, graph, newEventId, now } = environment;
  const metadata = { at: now().toISOString(), epoch, ...author, via, command: { id: command } };
  const appends = [...events.values()].flatMap(
    ({ state: { type, documentId }, events: decided }): OrderedAppend[] => {
      if (decided.length === 0) return [];
      const stream = documentStream(space, type.uid, documentId);
      const known = graph.streamRevision(type.uid, documentId);
      const later = seen.get(stream);
      const expected = later !== undefined && later > (known ?? -1n) ? later : known;
      const stored: NewEvent[] = newEvents(decided, newEventId(), metadata);
      return [{ stream, expected: expected ?? 'none', events: stored }];
    },
  );
  const last = record(metadata);
  const all = [...appends, last];
  const result = await uncertainAppends(environment).appendTogether(all, fence);
  return result.kind === 'conflict' ? { ...result, isRecord: result.stream === last.stream } : result;
}

function documentsOf(actions: readonly TogetherAction[]): readonly TogetherAction[] {
  return [...new Map(actions.map((action) => [lockKey(action), action])).values()];
}

function lockKey({ contentType, entryDocumentId }: TogetherAction): string {
  return documentLock(contentType, entryDocumentId);
}
