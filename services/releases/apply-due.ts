import type { DocumentEvent } from '../../shared/document/events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { readStreamState } from '../../shared/event-store/watch-stream.ts';
import { releaseStream } from '../../shared/releases/release-events.ts';
import { dueReleases, evolveReleases, noReleases, timeOf } from '../../shared/releases/release-state.ts';
import type { PlanningEnvironment } from '../command/environment.ts';
import { decideTogether } from '../command/publish-together.ts';

/** Events of the log up to a position, and an instant to come (ms since 1970). */
export type DueReleases = {
  readonly log: Pick<EventStore, 'readStream'>;
  readonly space: string;
  readonly position: bigint;
  readonly until: number;
};

/**
 * Applies what the releases will do that are due at an instant, one after the other. Each is decided on the graph after those before, as at
 * its time. One that would be refused does nothing.
 */
export async function applyDueReleases(
  { log, space, position, until }: DueReleases,
  environment: PlanningEnvironment,
  apply: (events: readonly DocumentEvent[], at: string) => void,
): Promise<void> {
  const events = upTo(log.readStream(releaseStream(space)), position);
  const state = await readStreamState(events, noReleases(), evolveReleases);
  for (const release of dueReleases(state.releases.values(), until)) {
    const decided = await decideTogether(environment, release.actions);
    if (decided !== undefined && decided.length > 0) apply(decided, new Date(timeOf(release)).toISOString());
  }
}

async function* upTo(events: AsyncIterable<StoredEvent>, position: bigint): AsyncGenerator<StoredEvent> {
  for await (const event of events) {
    if (event.position > position) return;
    yield event;
  }
}
