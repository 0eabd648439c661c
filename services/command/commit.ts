import type { DocumentEvent } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { AppendResult } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { DocumentState } from './decide.ts';
import type { CommandEnvironment } from './environment.ts';
import type { Locks } from './locks.ts';
import { newEvents } from './new-events.ts';
import { claimKey, type UniqueClaim } from './unique-values.ts';

/** What a command wants to do to the state it was shown. */
export type Plan = {
  readonly claims: readonly UniqueClaim[];
  /** Called once the claims are locked. Throws a RequestError when the command is refused. */
  readonly decide: () => readonly DocumentEvent[];
};

export type CommitRequest = {
  readonly type: ContentType;
  readonly documentId: string;
  /** Two appends with the same key are the same append. */
  readonly key: string;
  readonly actor?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Throws a RequestError when the command is refused. Called again with the newer state after a conflict. */
  readonly plan: (state: DocumentState) => Plan;
};

export type Committed = { readonly position: bigint; readonly applied: boolean; readonly changed: boolean };

export type Commit = (request: CommitRequest) => Promise<Committed>;

const ATTEMPTS = 5;
const APPLIED_TIMEOUT_MS = 10_000;

/**
 * Runs one command: lock the document, read its state from the graph, plan, lock the unique values it claims, decide,
 * append at the revision that was read, and answer when reads show it. The locks are held until the graph has applied it, also when
 * the answer had to be given earlier: the next command on this document or value reads a graph that knows this one. A
 * document's lock is always taken before any value's, and values' in order, so no two commands wait for each other. Other
 * documents run at the same time, and their appends share a commit. The stream itself is never read: the cost does not grow
 * with its length.
 */
export function createCommit(environment: CommandEnvironment, locks: Locks): Commit {
  let projectorFailed = false;
  return async (request) => {
    if (projectorFailed) throw unavailable();
    const releases = [await locks.acquire([documentKey(request)])];
    const release = () => {
      for (const give of releases.splice(0)) give();
    };
    try {
      const position = await appendPlanned(environment, locks, releases, request);
      if (position === undefined) {
        release();
        return { position: environment.graph.position(), applied: true, changed: false };
      }
      const shown = environment.applied(position).then(
        () => true,
        () => {
          projectorFailed = true;
          return false;
        },
      );
      void shown.then(release);
      const seen = shown.then((isShown) => isShown && isVisible(environment, position));
      return { position, applied: await within(seen, environment.appliedTimeoutMs), changed: true };
    } catch (error) {
      release();
      throw error;
    }
  };
}

async function isVisible({ visible }: CommandEnvironment, position: bigint): Promise<boolean> {
  await visible?.(position);
  return true;
}

/** Position of the last event appended; undefined when there was nothing to append. Throws 409 after several conflicts. */
async function appendPlanned(
  environment: CommandEnvironment,
  locks: Locks,
  releases: (() => void)[],
  request: CommitRequest,
): Promise<bigint | undefined> {
  const { graph } = environment;
  const { type, documentId } = request;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const revision = graph.streamRevision(type.uid, documentId);
    const plan = request.plan({ type, documentId, entries: graph.entries(type.uid, documentId) });
    const releaseClaims = await locks.acquire(plan.claims.map(claimKey));
    releases.push(releaseClaims);
    const events = plan.decide();
    if (events.length === 0) return undefined;
    const result = await append(environment, request, revision ?? 'none', events);
    if (result.kind === 'appended') return result.position;
    releaseClaims();
    // Someone else wrote to the stream: decide again once the graph knows what.
    await environment.applied(await environment.eventStore.lastPosition());
  }
  throw new RequestError(409, 'ConflictError', 'The document is being changed by others, try again', {
    documentId,
  });
}

function append(
  { eventStore, space, now, epoch }: CommandEnvironment,
  { type, documentId, key, actor, correlationId }: CommitRequest,
  expected: bigint | 'none',
  events: readonly DocumentEvent[],
): Promise<AppendResult> {
  const metadata = {
    at: now().toISOString(),
    epoch: epoch(),
    ...(actor === undefined ? {} : { actor }),
    ...(correlationId === undefined ? {} : { correlationId }),
  };
  return eventStore.append(
    documentStream(space, type.uid, documentId),
    expected,
    newEvents(events, key, metadata),
  );
}

/** `shown`, or false once the time is over. */
async function within(shown: Promise<boolean>, timeoutMs = APPLIED_TIMEOUT_MS): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, timeoutMs, false);
  void shown.then(resolve);
  const applied = await promise;
  clearTimeout(timer);
  return applied;
}

function documentKey({ type, documentId }: CommitRequest): string {
  return JSON.stringify(['document', type.uid, documentId]);
}

function unavailable(): RequestError {
  return new RequestError(
    503,
    'ServiceUnavailableError',
    'The content graph has stopped, nothing can be written',
  );
}
