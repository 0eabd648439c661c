import { randomUUID } from 'node:crypto';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable, stateAfterAll } from '../../shared/event-store/unreadable.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import {
  type OpenDelivery,
  type WebhooksProgressed,
  webhookProgressStream,
} from '../../shared/webhooks/webhook-events.ts';
import type { StoredDelivery } from './delivery-store.ts';
import { commandOf } from './document-actions.ts';
import { deliveryId, makeDeliveries } from './make-deliveries.ts';
import type { TermOptions } from './term-options.ts';

/**
 * With more than these, only parked ones are listed, the newest of them. The next leader then sends again what came after the first
 * one that waits.
 */
const MAX_OPEN = 500;

/** Progress of deliveries in the log, so that the next leader continues where this one ends. */
export function createProgress(options: TermOptions) {
  const { log, space, store, report } = options;
  const stream = webhookProgressStream(space);
  let written = '';

  const newest = async () => {
    const known = store.progress();
    const later = log.readStream(stream, (known?.revision ?? -1n) + 1n);
    const last = await stateAfterAll<StoredEvent | undefined>(later, undefined, (_, event) => event);
    if (last === undefined) return known;
    const read = { revision: last.revision, data: last.data as WebhooksProgressed['data'] };
    store.keepProgress(read);
    return read;
  };
  const takeOver = async ({ upTo, open }: WebhooksProgressed['data']): Promise<void> => {
    const isCut = open.filter(({ parked }) => parked).length >= MAX_OPEN;
    store.settle(BigInt(upTo), { open: new Set(open.map(deliveryId)), isCut });
    for (const delivery of open) {
      const id = deliveryId(delivery);
      if (store.find(id) === undefined) await restore(delivery);
      if (delivery.parked) store.attempted(id, PARKED_BEFORE);
      // The other process was to send it again.
      else store.replay({ hook: delivery.hook, id }, options.now());
    }
  };
  /** Makes a delivery again that another process had in its file. */
  const restore = async ({ hook: id, position, type, documentId, event }: OpenDelivery): Promise<void> => {
    const hook = options.hooks().get(id);
    if (hook === undefined) return;
    const events = await commandAt(options, BigInt(position));
    const only = deliveryId({ hook: id, position, type, documentId, event });
    for await (const made of makeDeliveries(options, events, [hook], { only }))
      store.add(made, undefined, options.now());
  };
  /** More deliveries waited than the other process lists. This one may have delivered them in an earlier term. */
  const sendAgain = (from: bigint, until: bigint): void => {
    const now = options.now();
    for (const hook of options.hooks().keys())
      store.replayOthers({ hook, from, until, before: now + 1 }, now);
  };
  return {
    /** Resolves with the position to read the log on from. */
    async begin(): Promise<bigint> {
      const own = store.checkpoint();
      const known = await newest();
      const since = [...options.hooks().values()].map((hook) => hook.since);
      const first = lowest(since);
      if (known === undefined || known.data.store === store.id) return own ?? first;
      const theirs = BigInt(known.data.upTo);
      if (own !== undefined && theirs < own) sendAgain(theirs + 1n, own);
      await takeOver(known.data);
      return theirs > first ? theirs : first;
    },
    /** Writes it if it has changed. Never rejects: the next time is soon. */
    async write(): Promise<void> {
      const data = progressOf(store.id, store.checkpoint() ?? 0n, store.open());
      const text = JSON.stringify(data);
      if (text === written) return;
      const metadata = {
        schemaVersion: EVENT_VERSIONS['webhooks-progressed'],
        at: new Date(options.now()).toISOString(),
        epoch: 0,
        actor: { kind: 'process', id: store.id },
        via: 'deliver-webhooks',
      } as const;
      const event = { id: randomUUID(), type: 'webhooks-progressed', data, metadata };
      try {
        await log.append(stream, 'any', [event]);
        written = text;
      } catch (error) {
        report.error(error);
      }
    },
  };
}

const PARKED_BEFORE = {
  state: 'parked',
  at: 0,
  nextAt: 0,
  status: null,
  error: 'another process parked it',
} as const;

function progressOf(
  store: string,
  checkpoint: bigint,
  all: readonly StoredDelivery[],
): WebhooksProgressed['data'] {
  const list = (deliveries: readonly StoredDelivery[]) =>
    deliveries.map(({ hook, position, event, type, documentId, state }) => ({
      hook,
      position: String(position),
      event,
      type,
      documentId,
      parked: state === 'parked',
    }));
  if (all.length <= MAX_OPEN) return { store, upTo: String(checkpoint), open: list(all) };
  const parked = all.filter(({ state }) => state === 'parked').slice(-MAX_OPEN);
  const waiting = all.filter(({ state }) => state === 'waiting');
  const first = lowest([checkpoint + 1n, ...waiting.map(({ position }) => position)]);
  return { store, upTo: String(first - 1n), open: list(parked) };
}

function lowest(positions: readonly bigint[]): bigint {
  const [first = 0n] = [...positions].sort((one, other) => (one < other ? -1 : 1));
  return first;
}

/** The events of the command whose first event of a document is at a position. */
async function commandAt({ log }: TermOptions, position: bigint): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const batch of log.readAll(position - 1n, { batchSize: 20 })) {
    for (const event of batch) {
      const [first] = events;
      if (first !== undefined && commandOf(event) !== commandOf(first)) return events;
      if (first === undefined && event.position !== position) return events;
      refuseUnreadable(event);
      events.push(event);
    }
  }
  return events;
}
