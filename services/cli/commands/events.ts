import type { EventStore, StoredEvent } from '../../../shared/event-store/event-store.ts';
import { rawEvents, subscribeToRaw } from '../../../shared/event-store/raw-events.ts';
import { untilAborted } from '../../../shared/until-aborted.ts';
import type { EventStoreOptions } from '../../stores/open-event-store.ts';
import { presentEvent, presentStored } from '../output/present-event.ts';
import { columnsOfTerminal, cutLine } from '../output/text-table.ts';
import { writeLines } from '../output/write-lines.ts';
import { lookAtLogOf, requireLog } from '../settings/access-log.ts';
import { InvalidSettings, type LogOnlySettings } from '../settings/settings.ts';
import { documentEvents } from './document-events.ts';
import { type EventFilter, type FilterOptions, parseEventFilter } from './event-filter.ts';

/** Options of `varve events`, as typed. */
export type EventOptions = FilterOptions & {
  readonly from?: string;
  readonly last?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly raw?: boolean;
};

/**
 * `varve events`: the history, a line for each event, oldest first. Reads the log itself, which servers may have open.
 * With `--follow` it continues with new events until it is interrupted. For one document it reads only the stream of
 * that document.
 */
export async function showEvents(settings: LogOnlySettings, options: EventOptions): Promise<void> {
  const { document, follow = false, raw = false } = options;
  const from = parsePosition(options.from);
  const most = parseCount(options.last);
  const isAsked = parseEventFilter(options, Date.now());
  requireLog(settings);
  const present = raw ? presentStored : options.json === true ? presentJson : presentLine;
  await lookAtLogOf(
    settings,
    async (log) => {
      const past = document === undefined ? undefined : await documentEvents(log, settings, document);
      const lines = async function* () {
        const asked = { from, past, isAsked };
        let last = from - 1n;
        for await (const event of newest(most, eventsOf(log, asked))) {
          yield present(event);
          last = event.position;
        }
        if (follow) for await (const event of follower(log, last)) if (isAsked(event)) yield present(event);
      };
      await writeLines(process.stdout, lines());
    },
    { ...(raw ? AS_STORED : {}), reads: follow ? 'follow' : 'look' },
  );
}

const AS_STORED: Partial<EventStoreOptions> = { decode: (stored) => stored };

function parsePosition(text = '0'): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidSettings(`--from must be a position of the log, which is an integer, got "${text}"`);
}

function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidSettings(`--last must be an integer from 1 to 999999, got "${text}"`);
}

/** Returns an event as one line, cut to the terminal. */
function presentLine(event: StoredEvent): string {
  return cutLine(presentEvent(event), columnsOfTerminal());
}

type Asked = {
  readonly from: bigint;
  /** Existing events of the document; undefined if the whole log has to be searched. */
  readonly past: readonly StoredEvent[] | undefined;
  readonly isAsked: EventFilter;
};

async function* eventsOf(log: EventStore, { from, past, isAsked }: Asked): AsyncGenerator<StoredEvent> {
  if (past !== undefined) yield* past.filter(({ position }) => position >= from).filter(isAsked);
  else for await (const event of rawEvents(log, from - 1n)) if (isAsked(event)) yield event;
}

/** Yields the last `most` events; all if it is undefined. */
async function* newest(
  most: number | undefined,
  events: AsyncIterable<StoredEvent>,
): AsyncGenerator<StoredEvent> {
  if (most === undefined) return yield* events;
  let kept: StoredEvent[] = [];
  for await (const event of events) {
    kept.push(event);
    // Cutting the list at each event would take quadratic time.
    if (kept.length > 2 * most) kept = kept.slice(-most);
  }
  yield* kept.slice(-most);
}

type Delivery = { readonly events: readonly StoredEvent[]; readonly taken: () => void };

/** Yields new events after a position, until SIGINT or SIGTERM. */
async function* follower(log: EventStore, after: bigint): AsyncGenerator<StoredEvent> {
  let next = Promise.withResolvers<Delivery>();
  const subscription = subscribeToRaw(log, { after }, (events) => {
    const taken = Promise.withResolvers<void>();
    next.resolve({ events, taken: taken.resolve });
    return taken.promise;
  });
  subscription.done.catch((error: unknown) => next.reject(error));
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  for (;;) {
    const delivery = await untilAborted(next.promise, interruption.signal);
    if (delivery === undefined) return;
    yield* delivery.events;
    next = Promise.withResolvers();
    delivery.taken();
  }
}

function presentJson(event: StoredEvent): string {
  return JSON.stringify(event, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
