import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable, stateAfterAll } from '../../shared/event-store/unreadable.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import {
  type OpenDelivery,
  type OpenReplay,
  type ProgressMetadata,
  type WebhooksProgressed,
  webhookProgressStream,
} from '../../shared/webhooks/webhook-events.ts';
import { completeCommand } from './complete-command.ts';
import type { HistoryRequest, KnownProgress, UnfinishedDelivery } from './delivery-store.ts';
import { deliveryId, makeDeliveries } from './make-deliveries.ts';
import type { TermOptions } from './term-options.ts';

/**
 * Maximum number of listed deliveries. If there are more, only the newest parked ones are listed, and the next leader sends everything
 * after the first waiting delivery again.
 */
const MAX_OPEN = 500;

/** Progress of deliveries in the log, so that the next leader continues where this one ends. */
export function createProgress(options: TermOptions) {
  const { log, space, store, report } = options;
  const stream = webhookProgressStream(space);
  let written = '';
  // Writes follow each other: a slow one that ended after the next would be the newest progress of the stream.
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const { data, replays } = progressOf(options);
    const text = JSON.stringify([data, replays]);
    if (text === written) return;
    const metadata: Omit<ProgressMetadata, 'schemaVersion'> = {
      at: new Date(options.now()).toISOString(),
      epoch: options.epoch,
      actor: { kind: 'process', id: store.id },
      via: 'deliver-webhooks',
      ...(replays.length > 0 && { replays }),
    };
    await log.append(stream, 'any', [newEvent({ type: 'webhooks-progressed', data }, metadata)]);
    written = text;
  };
  const newest = async () => {
    const known = store.progress();
    // A leader that continues after a pause writes its old progress again, which does not count. Earlier releases wrote no epoch.
    const hasNoEpoch = ({ metadata }: StoredEvent) => metadata.epoch === 0;
    const later = options.events.stream(stream, (known?.revision ?? -1n) + 1n, hasNoEpoch);
    const { last, own } = await stateAfterAll<LastProgress>(later, {}, (before, event) => {
      const read = progressIn(event);
      return { ...before, last: read, ...(read.data.store === store.id && { own: read }) };
    });
    if (last === undefined) return known;
    // The next leader has made these, or lists them.
    if (last !== own) for (const replay of own?.replays ?? []) store.forgetHistory(asked(replay));
    store.keepProgress(last);
    return last;
  };
  const takeOver = async ({ data: { upTo, open }, replays = [] }: KnownProgress): Promise<void> => {
    for (const replay of replays) store.requestHistory(asked(replay));
    const isCut = open.filter(({ parked }) => parked).length >= MAX_OPEN;
    store.settle(BigInt(upTo), { open: new Set(open.map(deliveryId)), isCut });
    for (const delivery of open) {
      const id = deliveryId(delivery);
      if (store.find(id) === undefined) await restore(delivery);
      const stored = store.find(id);
      if (stored === undefined) continue;
      if (delivery.parked) store.attempted(stored, PARKED_BEFORE);
      // An operator had asked the other process to send this delivery again.
      else store.replay({ hook: delivery.hook, id }, options.now());
    }
  };
  /** Makes a delivery again that only another process's file has. */
  const restore = async ({ hook: id, position, type, documentId, event }: OpenDelivery): Promise<void> => {
    const hook = options.hooks().get(id);
    if (hook === undefined) return;
    const at = BigInt(position);
    const first = await Array.fromAsync(options.events.after(at - 1n, { until: at, batchSize: 1 }));
    for (const event of first) refuseUnreadable(event);
    const events = await completeCommand(options.events, first);
    const only = deliveryId({ hook: id, position, type, documentId, event });
    const isHistory = at <= hook.since;
    // The other leader has made the delivery. So it is sent even if the webhook has changed since.
    const wanting = { ...hook, since: 0n, status: 'active' } as const;
    const marks = isHistory && ({ marks: { replayed: true } } as const);
    for await (const made of makeDeliveries(options, events, [wanting], { only, ...marks }))
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
      await takeOver(known);
      return theirs > first ? theirs : first;
    },
    /** Writes the progress if it has changed. Never rejects: the next attempt follows soon. */
    write(): Promise<void> {
      writing = writing.then(write).catch(report.error);
      return writing;
    },
  };
}

const PARKED_BEFORE = {
  state: 'parked',
  nextAt: 0,
  status: null,
  error: 'another process parked it',
} as const;

type LastProgress = { readonly last?: KnownProgress; readonly own?: KnownProgress };

function progressIn({ revision, data, metadata }: StoredEvent): KnownProgress {
  return {
    revision,
    data: data as WebhooksProgressed['data'],
    replays: (metadata as ProgressMetadata).replays,
  };
}

function asked({ hook, from }: OpenReplay): HistoryRequest {
  return { hook, from: BigInt(from) };
}

/** Returns the deliveries and replays that are not done, for the next leader. */
function progressOf({ store, hooks }: Pick<TermOptions, 'store' | 'hooks'>) {
  const all = store.open();
  const checkpoint = store.checkpoint() ?? 0n;
  const replays = store.historyRequests().map(({ hook, from }) => ({ hook, from: String(from) }));
  if (all.length <= MAX_OPEN)
    return { data: { store: store.id, upTo: String(checkpoint), open: listed(all) }, replays };
  const parked = all.filter(({ state }) => state === 'parked').slice(-MAX_OPEN);
  const waiting = all.filter(({ state }) => state === 'waiting');
  const sinceOf = ({ hook }: UnfinishedDelivery) => hooks().get(hook)?.since ?? 0n;
  const older = waiting.filter((delivery) => delivery.position <= sinceOf(delivery));
  const newer = waiting.filter((delivery) => delivery.position > sinceOf(delivery));
  const first = lowest([checkpoint + 1n, ...newer.map(({ position }) => position)]);
  return {
    data: { store: store.id, upTo: String(first - 1n), open: listed(parked) },
    // The next leader reads on from `upTo`, and so makes no delivery that is older than its webhook.
    replays: [...replays, ...replaysOf(older)],
  };
}

function listed(deliveries: readonly UnfinishedDelivery[]): readonly OpenDelivery[] {
  return deliveries.map(({ hook, position, event, type, documentId, state }) => ({
    hook,
    position: String(position),
    event,
    type,
    documentId,
    parked: state === 'parked',
  }));
}

/** One replay for each webhook, from the first of its deliveries. */
function replaysOf(deliveries: readonly UnfinishedDelivery[]): readonly OpenReplay[] {
  return [...Map.groupBy(deliveries, ({ hook }) => hook)].map(([hook, own]) => ({
    hook,
    from: String(lowest(own.map(({ position }) => position))),
  }));
}

function lowest(positions: readonly bigint[]): bigint {
  const [first = 0n] = [...positions].sort((one, other) => (one < other ? -1 : 1));
  return first;
}
