import { documentStream } from '../../shared/document/stream-name.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { AppendTooLarge, StreamDeleted } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { createLocks, type Locks } from '../../shared/locks.ts';
import {
  type ReleaseDone,
  type ReleaseProblem,
  releaseStream,
} from '../../shared/releases/release-events.ts';
import { isPending, type Release, type StoredAction, timeOf } from '../../shared/releases/release-state.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Author } from '../command/command.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import { actAs } from '../command/current-author.ts';
import type { Together } from '../command/publish-together.ts';
import { problemOf } from './describe-release.ts';
import type { ReleaseCommands } from './release-commands.ts';
import { ONE_ENTRY } from './release-error.ts';
import type { KnownReleases } from './watch-releases.ts';

export type CarryOutOptions = {
  readonly log: EventStore;
  readonly events: EffectiveEvents;
  readonly space: string;
  readonly known: KnownReleases;
  readonly commands: ReleaseCommands;
  readonly together: Together;
  /** Carries out an action on one document, on a store that cannot append to several streams together. */
  readonly single: CommandHandler;
  readonly lead: () => {
    readonly epoch: number;
    readonly fence?: { readonly stream: string; readonly revision: bigint };
  };
  readonly now: () => Date;
  /** Shared with the commands on releases. An edit that comes between would make an attempt conflict. */
  readonly locks: Locks;
};

/** End of an attempt to carry a release out. `gone`: it was removed, changed or carried out meanwhile. */
export type CarriedOut =
  | { readonly kind: 'done'; readonly release: Release; readonly position: bigint }
  | { readonly kind: 'failed'; readonly release: Release }
  | { readonly kind: 'gone' };

/** Reason for which a release is carried out: it is due, or a caller asks for it. */
export type Occasion = { readonly author: Author; readonly isDue: boolean };

/** Carries releases out, one at a time. */
export type CarryOut = (id: number, occasion: Occasion) => Promise<CarriedOut>;

const ATTEMPTS = 5;
/** Creates the function that carries a release out, if it was not yet. It stores all of its effects and `release-done`, or none. */
export function createCarryOut(options: CarryOutOptions): CarryOut {
  const locks = createLocks();
  return (id, occasion) => locks.run(['release'], () => attemptAll(options, id, occasion));
}

async function attemptAll(options: CarryOutOptions, id: number, occasion: Occasion): Promise<CarriedOut> {
  const { known, commands, locks, space } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let tried: Awaited<ReturnType<typeof attemptNow>>;
    try {
      tried = await locks.run([releaseStream(space)], () => attemptNow(options, id, occasion));
    } catch (error) {
      const ended = await endWithoutAnswer(options, id).catch(() => undefined);
      if (ended?.kind === 'done') return ended;
      throw error;
    }
    if (tried === undefined) return attempt === 0 ? { kind: 'gone' } : endWithoutAnswer(options, id);
    const { release, revision, outcome } = tried;
    if (outcome.kind === 'stored') {
      await known.latest();
      return { kind: 'done', release: commands.find(id), position: outcome.position };
    }
    if (outcome.kind === 'changed') continue;
    await actAs(occasion.author, () => commands.fail(release, outcome.problems, revision));
    if ((known.state().releases.get(id)?.failure ?? null) !== null)
      return { kind: 'failed', release: commands.find(id) };
  }
  throw new RequestError('rights-contended', 'The release is being changed by others, try again');
}

/** Returns the end of an attempt whose answer was lost: the log may have stored it. */
async function endWithoutAnswer({ known, commands, log }: CarryOutOptions, id: number): Promise<CarriedOut> {
  await known.latest();
  if ((known.state().releases.get(id)?.releasedAt ?? null) === null) return { kind: 'gone' };
  return { kind: 'done', release: commands.find(id), position: await log.lastPosition() };
}

/** Carries a release out as it is in the log now; undefined if it must not be carried out any more. */
async function attemptNow(options: CarryOutOptions, id: number, occasion: Occasion) {
  const { known, now } = options;
  // An earlier attempt of this process, or of the previous leader, may have been stored without an answer.
  await known.latest();
  const { releases, revision } = known.state();
  const release = releases.get(id);
  if (release === undefined || !isPending(release)) return undefined;
  if (occasion.isDue && timeOf(release) > now().getTime()) return undefined;
  return { release, revision, outcome: await attemptOne(options, release, { ...occasion, revision }) };
}

type Attempt = Occasion & { readonly revision: bigint | undefined };
type Outcome =
  | { readonly kind: 'stored'; readonly position: bigint }
  | { readonly kind: 'refused'; readonly problems: readonly ReleaseProblem[] }
  | { readonly kind: 'changed' };

async function attemptOne(options: CarryOutOptions, release: Release, attempt: Attempt): Promise<Outcome> {
  const [action, ...others] = release.actions;
  if (action === undefined) return refusedAll(release, 'The release has no entries');
  if (await options.log.checksConditions()) return attemptTogether(options, release, attempt);
  if (others.length > 0) return refusedAll(release, ONE_ENTRY);
  return attemptInTurn(options, { ...release, actions: [action] }, attempt);
}

async function attemptTogether(
  options: CarryOutOptions,
  release: Release,
  attempt: Attempt,
): Promise<Outcome> {
  const { together, space, known } = options;
  const stream = releaseStream(space);
  const expected = attempt.revision ?? 'none';
  try {
    const outcome = await together.carryOut({
      actions: release.actions,
      command: commandOf(release),
      author: attempt.author,
      via: 'release',
      record: (metadata) => ({
        stream,
        expected,
        events: [newEvent(doneEvent(metadata.at, release, attempt), metadata)],
      }),
    });
    if (outcome.kind === 'refused') return { kind: 'refused', problems: outcome.refused.map(problemOf) };
    if (outcome.kind === 'changed') await known.reached(outcome.actual);
    return outcome.kind === 'changed' ? { kind: 'changed' } : outcome;
  } catch (error) {
    return refusedForGood(release, error);
  }
}

/**
 * Carries out the only action of a release on a store that does not append to several streams together. If the previous leader was killed
 * between the publication and its record, the document has the command already, and only the record is made.
 */
async function attemptInTurn(
  options: CarryOutOptions,
  release: Release & { readonly actions: readonly [StoredAction] },
  attempt: Attempt,
): Promise<Outcome> {
  const { single, together, space, log, known, lead } = options;
  const [action] = release.actions;
  const id = `${commandOf(release)}/${action.id}`;
  try {
    if (!(await hasCommand(options, action, id))) {
      const refused = await together.check([action]);
      if (refused.length > 0) return { kind: 'refused', problems: refused.map(problemOf) };
      const { type: kind, contentType: type, entryDocumentId: documentId, locale } = action;
      await single.execute({
        kind,
        type,
        documentId,
        locale: locale ?? undefined,
        identity: { id },
        author: attempt.author,
      });
    }
  } catch (error) {
    if (error instanceof RequestError && isFinal(error)) return refusedAll(release, reasonOf(error));
    return refusedForGood(release, error);
  }
  const metadata = {
    at: options.now().toISOString(),
    epoch: lead().epoch,
    ...attempt.author,
    via: 'release',
  };
  const done = newEvent(doneEvent(metadata.at, release, attempt), metadata);
  const stored = await log.append(releaseStream(space), attempt.revision ?? 'none', [done]);
  if (stored.kind === 'appended') return { kind: 'stored', position: stored.position };
  if (stored.kind === 'conflict') await known.reached(stored.actual);
  return { kind: 'changed' };
}

async function hasCommand(
  { events, space }: CarryOutOptions,
  action: StoredAction,
  id: string,
): Promise<boolean> {
  const stream = documentStream(space, action.contentType, action.entryDocumentId);
  for await (const { metadata } of events.stream(stream)) if (metadata.command?.id === id) return true;
  return false;
}

/** Returns whether a refusal does not end by itself, such as that of an entry that lacks a required value. */
function isFinal({ code }: RequestError): boolean {
  return (
    code === 'invalid-body' ||
    code === 'not-found' ||
    code === 'write-too-large' ||
    code === 'document-deleted'
  );
}

function reasonOf({ code, message }: RequestError): string {
  return code === 'not-found' ? 'The entry does not exist' : message;
}

/** Throws the error unless another attempt with the same documents cannot succeed. */
function refusedForGood(release: Release, error: unknown): Outcome {
  if (error instanceof AppendTooLarge)
    return refusedAll(release, `The release is too large: ${error.message}`);
  if (error instanceof StreamDeleted) return refusedAll(release, error.message);
  throw error;
}

function refusedAll({ actions }: Release, reason: string): Outcome {
  const [first] = actions;
  const { contentType = '', entryDocumentId = '', locale = null } = first ?? {};
  return { kind: 'refused', problems: [{ contentType, entryDocumentId, locale, reason }] };
}

/** Name of the command: equal for all attempts to carry out the same state of the release. */
function commandOf({ id, revision }: Release): string {
  return `release/${id}/${revision}`;
}

function doneEvent(
  at: string,
  { id, name, scheduledAt, timezone, actions }: Release,
  { isDue }: Attempt,
): ReleaseDone {
  const published = actions.filter(({ type }) => type === 'publish').length;
  const late = isDue && scheduledAt !== null ? Date.parse(at) - Date.parse(scheduledAt) : null;
  const lateMs = late === null ? null : Math.max(0, late);
  const unpublished = actions.length - published;
  return { type: 'release-done', data: { id, name, scheduledAt, timezone, lateMs, published, unpublished } };
}
