import { defined } from '../../shared/defined.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import {
  type AppendResult,
  AppendTooLarge,
  type CommandIdentity,
  LogRestored,
  StreamDeleted,
} from '../../shared/event-store/event-store.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { Locks } from '../../shared/locks.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import { valueWithin } from '../../shared/value-within.ts';
import type { Author, CommandResult, Unshown } from './command.ts';
import type { DocumentState } from './decide.ts';
import type { CommandEnvironment } from './environment.ts';
import { newEvents } from './new-events.ts';
import { NotLeading } from './not-leading.ts';
import { uncertainAppends } from './uncertain-appends.ts';
import { claimKey, type UniqueClaim } from './unique-values.ts';

/** Change that a command makes to the given state. */
export type Plan = {
  readonly claims: readonly UniqueClaim[];
  /** Called when the claims are locked. Throws a RequestError if the command is refused. */
  readonly decide: () => readonly DocumentEvent[];
};

export type CommitRequest = {
  readonly type: ContentType;
  readonly documentId: string;
  /** Absent: the command cannot be repeated. */
  readonly identity?: CommandIdentity | undefined;
  readonly author?: Author | undefined;
  /** The kind of the command. */
  readonly via?: string | undefined;
  /** Throws a RequestError when the command is refused. Called again with the newer state after a conflict. */
  readonly plan: (state: DocumentState) => Plan;
};

export type Committed = Pick<CommandResult, 'position' | 'applied' | 'unshown' | 'changed'>;

export type Commit = (request: CommitRequest) => Promise<Committed>;

const ATTEMPTS = 5;
const APPLIED_TIMEOUT_MS = 10_000;

/**
 * Runs one command. It locks the document, reads its state from the graph, plans, locks the unique values that the plan claims, and
 * decides. It appends at the revision that was read, and answers when reads show the events. It holds the locks until the graph has applied
 * the events, also if it had to answer earlier. So the next command on this document or value reads a graph that knows this one. A
 * document's lock always comes before any value's, and values' locks are taken in order, so no two commands wait for each other. Commands
 * on other documents run at the same time, and their appends share a commit. The stream itself is never read: the cost does not grow with
 * its length. An append without an answer may be in the log. So the next commands decide only once the graph shows the log's end.
 *
 * The lease is a condition of the append. If another process claimed the lease before, nothing is stored. The command rejects with
 * NotLeading, and it can be sent to that process. A store that checks no conditions stores the events after the claim. `counts` detects
 * this, and events without effect are never acknowledged.
 */
export function createCommit(environment: CommandEnvironment, locks: Locks): Commit {
  let projectorFailed = false;
  return async (request) => {
    if (projectorFailed) throw unavailable();
    const releases = [await locks.acquire(lockKeys(request))];
    const release = () => {
      for (const give of releases.splice(0)) give();
    };
    try {
      const outcome = await appendPlanned(environment, locks, releases, request);
      if (outcome.kind === 'unchanged') {
        release();
        // The process that wrote the command may have ended before the write was visible.
        const seen = isVisible(environment, outcome.position);
        const shown = await shownWithin(environment, request, seen);
        return { position: outcome.position, ...shown, changed: false };
      }
      const { position, lead } = outcome;
      let isRestored = false;
      const shown = environment.applied(position).then(
        () => true,
        (error: unknown) => {
          projectorFailed = true;
          isRestored = error instanceof LogRestored;
          return false;
        },
      );
      // Never rejects: `shown` is false if the projector failed.
      void shown.then(release);
      const seen = shown.then((isShown) => isShown && isVisible(environment, position));
      const visible = await shownWithin(environment, request, seen);
      if (isRestored) throw logRestored();
      if (!(await counts(environment, position, lead))) throw new NotLeading();
      return { position, ...visible, changed: true };
    } catch (error) {
      release();
      throw error;
    }
  };
}

async function counts(environment: CommandEnvironment, position: bigint, lead: Lead): Promise<boolean> {
  try {
    return (await environment.counts?.(position, lead)) ?? true;
  } catch (cause) {
    throw new RequestError(
      'outcome-unknown',
      'The event log cannot be read now: the write may have been stored',
      {},
      { cause },
    );
  }
}

async function isVisible({ visible }: CommandEnvironment, position: bigint): Promise<boolean> {
  await visible?.(position);
  return true;
}

const LATE: Unshown = Object.freeze({
  code: 'not-shown-yet',
  message: 'The write is stored. Reads will show it later: send its position as Varve-Min-Position',
});

/** Returns whether reads show the command in time, and why not. */
async function shownWithin(
  { refusal, appliedTimeoutMs }: CommandEnvironment,
  { type, documentId }: CommitRequest,
  seen: Promise<boolean>,
): Promise<Pick<CommandResult, 'applied' | 'unshown'>> {
  if (!(await within(seen, appliedTimeoutMs))) return { applied: false, unshown: LATE };
  const message = refusal?.(type.uid, documentId);
  if (message === undefined) return { applied: true };
  return { applied: false, unshown: { code: 'document-refused', message } };
}

type Outcome =
  /** There is nothing to append, or it was appended before. The state at `position` is the result of the command. */
  | { readonly kind: 'unchanged'; readonly position: bigint }
  | { readonly kind: 'appended'; readonly position: bigint; readonly lead: Lead };

/** Throws 409 after several conflicts. */
async function appendPlanned(
  environment: CommandEnvironment,
  locks: Locks,
  releases: (() => void)[],
  request: CommitRequest,
): Promise<Outcome> {
  const { graph } = environment;
  const { type, documentId } = request;
  let seen: bigint | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const lead = environment.lead();
    const earlier = earlierPosition(environment, request);
    if (earlier !== undefined) return { kind: 'unchanged', position: earlier };
    const known = graph.streamRevision(type.uid, documentId);
    const revision = laterRevision(known, seen);
    const entries = known === undefined ? [] : graph.entries(type.uid, documentId);
    const plan = request.plan({ type, documentId, entries });
    const releaseClaims = await locks.acquire(plan.claims.map(claimKey));
    releases.push(releaseClaims);
    await uncertainAppends(environment).settle();
    // An earlier attempt of this command may have been stored without an answer. Its own entry must not refuse it.
    const stored = earlierPosition(environment, request);
    if (stored !== undefined) return { kind: 'unchanged', position: stored };
    const events = plan.decide();
    if (events.length === 0) return { kind: 'unchanged', position: graph.position() };
    const result = await append(environment, request, lead, { expected: revision ?? 'none', events });
    if (result.kind === 'appended') return { kind: 'appended', position: result.position, lead };
    releaseClaims();
    if (result.kind === 'fenced') {
      await readClaim(environment);
      throw new NotLeading();
    }
    // Another process wrote to the stream. The command is decided again when the graph has applied that event.
    seen = result.actual;
    await environment.applied(await environment.eventStore.lastPosition());
  }
  throw new RequestError('document-contended', 'The document is being changed at the same time, try again', {
    documentId,
  });
}

/** Waits until this process has read the claim that fenced it off. Then it can name the new leader to the sender of the command. */
async function readClaim({ applied, eventStore, appliedTimeoutMs }: CommandEnvironment): Promise<void> {
  const read = eventStore.lastPosition().then(applied);
  await within(
    read.then(() => true),
    appliedTimeoutMs,
  );
}

/** Position of the command in the log. Throws 422 if another request has its identity. */
function earlierPosition({ graph }: CommandEnvironment, { identity }: CommitRequest): bigint | undefined {
  const earlier = identity === undefined ? undefined : graph.command(identity.id);
  if (earlier === undefined) return undefined;
  if (earlier.request === identity?.request) return earlier.position;
  throw new RequestError(
    'idempotency-key-reused',
    'This Idempotency-Key was used with another request: use a new key for every request',
    { header: 'Idempotency-Key' },
  );
}

/** Returns the later revision. The graph does not know the revisions of events that do not count, but a conflict reports them. */
function laterRevision(known: bigint | undefined, seen: bigint | undefined): bigint | undefined {
  return (seen ?? -1n) > (known ?? -1n) ? seen : known;
}

async function append(
  environment: CommandEnvironment,
  { type, documentId, identity, author, via }: CommitRequest,
  { epoch, fence }: Lead,
  { expected, events }: { readonly expected: bigint | 'none'; readonly events: readonly DocumentEvent[] },
): Promise<AppendResult> {
  const { space, now, newEventId } = environment;
  const metadata = {
    at: now().toISOString(),
    epoch,
    ...author,
    ...defined({ via: author?.via ?? via, command: identity }),
  };
  // If the store checks no conditions, the log may have events of this command after a newer claim. The store must not
  // mistake them for events with an effect.
  const key = identity === undefined ? newEventId() : `${identity.id}/${epoch}`;
  const stream = documentStream(space, type.uid, documentId);
  try {
    const stored = newEvents(events, key, metadata);
    return await uncertainAppends(environment).append(stream, expected, stored, fence);
  } catch (cause) {
    if (cause instanceof AppendTooLarge) throw tooLarge(cause);
    if (cause instanceof StreamDeleted) throw deletedForGood(documentId, cause);
    throw new RequestError(
      isDiskFull(cause) ? 'disk-full' : 'log-unavailable',
      isDiskFull(cause)
        ? 'The event log cannot be written: its disk is full'
        : 'The event log cannot be written now',
      {},
      { cause },
    );
  }
}

function tooLarge(cause: AppendTooLarge): RequestError {
  const { limit } = cause;
  const most = limit === undefined ? 'less than this' : `at most ${limit} bytes for all events of a write`;
  const message = `The entry is too large for the event log, which accepts ${most}`;
  return new RequestError('write-too-large', message, limit === undefined ? {} : { limit }, {
    cause,
  });
}

function deletedForGood(documentId: string, cause: StreamDeleted): RequestError {
  const message = 'The document cannot be changed: its stream was deleted for good in the event log';
  return new RequestError('document-deleted', message, { documentId }, { cause });
}

/** Resolves like `shown`, or with false after the time limit. A stored write is never reported as an error. */
async function within(shown: Promise<boolean>, timeoutMs = APPLIED_TIMEOUT_MS): Promise<boolean> {
  const inTime = await valueWithin(timeoutMs, shown).catch(() => false);
  return inTime ?? false;
}

/** Returns the lock that every change of a document takes. */
export function documentLock(type: Uid, documentId: string): string {
  return JSON.stringify(['document', type, documentId]);
}

/** Returns the locks of a request. The identity is locked too, so that a simultaneous repetition finds the first command applied. */
function lockKeys({ type, documentId, identity }: CommitRequest): readonly string[] {
  const document = documentLock(type.uid, documentId);
  return identity === undefined ? [document] : [JSON.stringify(['command', identity.id]), document];
}

/** The write may be in the log that was replaced. */
function logRestored(): RequestError {
  return new RequestError(
    'outcome-unknown',
    'An older copy of the event log was restored: the write may be lost',
  );
}

function unavailable(): RequestError {
  return new RequestError('graph-stopped', 'The content graph has stopped, writes are not possible');
}
