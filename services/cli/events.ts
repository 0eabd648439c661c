import { assertNever } from '../../shared/assert-never.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { hasLog, withLog } from './access-log.ts';
import { presentEvent } from './present-event.ts';
import { InvalidSettings, type LogOnlySettings } from './settings.ts';
import { writeLines } from './write-lines.ts';

/** Options of `varve events`, as typed. */
export type EventOptions = {
  readonly document?: string;
  readonly from?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
};

/**
 * `varve events`: the history, a line for each event, oldest first. Reads the log itself, which servers may have open. With
 * `--follow` it goes on with what happens from now on, until it is interrupted.
 */
export async function showEvents(options: EventOptions, settings: LogOnlySettings): Promise<void> {
  const { document, follow = false } = options;
  const from = parsePosition(options.from);
  if (!hasLog(settings)) throw new Error(`there is no log in ${settings.data}: see --data and --event-store`);
  const present = options.json === true ? presentJson : presentEvent;
  const isAsked = (event: StoredEvent) => document === undefined || documentOf(event) === document;
  await withLog(settings, async (log) => {
    const lines = async function* () {
      for await (const event of eventsOf(log, from, follow)) if (isAsked(event)) yield present(event);
    };
    await writeLines(process.stdout, lines());
  });
}

function parsePosition(text = '0'): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidSettings(`  --from "${text}" is no position: a whole number, as varve events shows it`);
}

async function* eventsOf(log: EventStore, from: bigint, follow: boolean): AsyncGenerator<StoredEvent> {
  let last = from - 1n;
  for await (const events of log.readAll(last)) {
    yield* events;
    last = events.at(-1)?.position ?? last;
  }
  if (follow) yield* follower(log, last);
}

type Delivery =
  | { readonly kind: 'events'; readonly events: readonly StoredEvent[]; readonly taken: () => void }
  | { readonly kind: 'interrupted' };

/** What is appended after a position, until SIGINT or SIGTERM. */
async function* follower(log: EventStore, after: bigint): AsyncGenerator<StoredEvent> {
  let deliver = Promise.withResolvers<Delivery>();
  const subscription = log.subscribe(after, (events) => {
    const taken = Promise.withResolvers<void>();
    deliver.resolve({ kind: 'events', events, taken: taken.resolve });
    return taken.promise;
  });
  subscription.done.catch((error: unknown) => deliver.reject(error));
  const interrupt = () => deliver.resolve({ kind: 'interrupted' });
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  for (;;) {
    const delivery = await deliver.promise;
    switch (delivery.kind) {
      case 'interrupted':
        return;
      case 'events':
        yield* delivery.events;
        deliver = Promise.withResolvers();
        delivery.taken();
        break;
      default:
        assertNever(delivery);
    }
  }
}

function documentOf({ data }: StoredEvent): unknown {
  return (data as { readonly documentId?: unknown } | null)?.documentId;
}

function presentJson(event: StoredEvent): string {
  return JSON.stringify(event, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
