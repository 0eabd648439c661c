import type { EventStore } from '../../shared/event-store/event-store.ts';
import { evolveStream, readStreamState, watchStream } from '../../shared/event-store/watch-stream.ts';
import { releaseStream } from '../../shared/releases/release-events.ts';
import { evolveReleases, noReleases, type ReleaseState } from '../../shared/releases/release-state.ts';

/** The releases of a log, as this process knows them. */
export type KnownReleases = Awaited<ReturnType<typeof watchReleases>>;

const WAIT_MS = 10_000;

/** Reads the releases, and keeps them current. Calls `changed` after each change. `done` rejects when they can no longer be read. */
export async function watchReleases(log: EventStore, space: string, changed: () => void) {
  const stream = releaseStream(space);
  const { state, moved, done, close } = await watchStream(log, {
    stream,
    read: () => readStreamState(log.readStream(stream), noReleases(), evolveReleases),
    evolve: (known, event) => evolveStream(known, event, evolveReleases),
    changed,
  });
  return {
    state: (): ReleaseState => state(),
    /** Resolves when the state has the event at this revision. Rejects after 10 s. */
    async reached(revision: bigint | undefined): Promise<void> {
      const wanted = revision ?? -1n;
      if (await moved.until(() => (state().revision ?? -1n) >= wanted, WAIT_MS)) return;
      throw new Error(`the releases in the log could not be read up to revision ${wanted} within 10 s`);
    },
    /** Resolves when the state has all events that the log has now. */
    async latest(): Promise<void> {
      let last: bigint | undefined;
      for await (const { revision } of log.readStream(stream, (state().revision ?? -1n) + 1n))
        last = revision;
      if (last !== undefined) await this.reached(last);
    },
    done,
    close,
  };
}
