import { setImmediate } from 'node:timers/promises';
import { defined } from '../../shared/defined.ts';
import { relatedDocuments } from '../../shared/document/related-documents.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { WORLDS } from '../../shared/read-index/read-index.ts';
import type { ReleaseDone, ReleaseFailed } from '../../shared/releases/release-events.ts';
import type { OpenDelivery } from '../../shared/webhooks/webhook-events.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import { type DocumentAction, documentActions } from '../history/document-actions.ts';
import type { NewDelivery } from './delivery-store.ts';
import { type BodyMarks, type BodyOptions, createBodyWriter } from './webhook-body.ts';

/** Returns the id of a delivery: the same in every process, and after every restart. */
export function deliveryId(delivery: Omit<OpenDelivery, 'parked'>): string {
  const { hook, position, event, type, documentId } = delivery;
  // A full stop separates the parts of what is signed.
  return ['wh', hook, position, event, type, documentId].join('_').replaceAll(/[^A-Za-z0-9_-]/g, '-');
}

/** Number of deliveries in one piece. Other work runs between two pieces. */
const PIECE = 20;

export type MakeOptions = {
  readonly marks?: BodyMarks;
  /** Make only the delivery with this id. */
  readonly only?: string;
};

/** Makes deliveries of events to hooks that want them, in pieces. Reads must show the events. */
export async function* makeDeliveries(
  options: BodyOptions,
  events: readonly StoredEvent[],
  hooks: readonly Webhook[],
  make: MakeOptions = {},
): AsyncGenerator<readonly NewDelivery[]> {
  let piece: NewDelivery[] = [];
  for await (const made of eachAction(options, events, hooks, make)) {
    piece.push(...made);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
    await setImmediate();
  }
  if (piece.length > 0) yield piece;
}

async function* eachAction(
  options: BodyOptions,
  events: readonly StoredEvent[],
  hooks: readonly Webhook[],
  { marks = {}, only }: MakeOptions,
): AsyncGenerator<readonly NewDelivery[]> {
  for (const action of documentActions(events, options.registry)) {
    yield deliver(options, action, wantedBy(action, hooks, only), marks);
    const wanting = hooks.filter((hook) => hook.events.includes('entry.related-change'));
    if (wanting.length === 0) continue;
    const { event, type: uid, documentId } = action;
    const ofRelated = { ...marks, cause: { event, uid, documentId } };
    if (options.graph.recorded.hasMoreLinks(action.type, documentId, options.limits.maxRelated)) {
      const itself = { ...action, event: 'entry.related-change' } as const;
      const receivers = wanting.filter((hook) => isOwed(hook, itself) && isNamed(hook, itself, only));
      yield deliver(options, itself, receivers, { ...ofRelated, relatedOmitted: true });
      continue;
    }
    for (const related of relatedActions(options, action))
      yield deliver(options, related, wantedBy(related, wanting, only), ofRelated);
  }
  // The event of a release comes after those of its documents.
  for (const stored of events) yield releaseDeliveries(stored, hooks, { marks, ...defined({ only }) });
}

/** Type of releases in deliveries, as in Strapi. */
const RELEASE_TYPE = 'plugin::content-releases.release';

/** Makes the deliveries of a release that was carried out or failed. Content types and locales of hooks do not limit them. */
function releaseDeliveries(
  stored: StoredEvent,
  hooks: readonly Webhook[],
  { marks = {}, only }: MakeOptions,
): readonly NewDelivery[] {
  if (stored.type !== 'release-done' && stored.type !== 'release-failed') return [];
  const { position } = stored;
  const ended = stored as unknown as ReleaseDone | ReleaseFailed;
  const body = JSON.stringify(releaseBody(ended, stored.metadata.at, marks));
  const documentId = String(ended.data.id);
  return hooks.flatMap(({ id: hook, status, since, events }): NewDelivery[] => {
    if (status === 'disabled' || position <= since || !events.includes('releases.publish')) return [];
    const named = { hook, event: 'releases.publish', type: RELEASE_TYPE, documentId } as const;
    const id = deliveryId({ ...named, position: String(position) });
    return only === undefined || only === id ? [{ ...named, id, position, body }] : [];
  });
}

/** Writes the members in Strapi's order. */
function releaseBody(ended: ReleaseDone | ReleaseFailed, at: string, marks: BodyMarks) {
  const { id, name, scheduledAt, timezone } = ended.data;
  const isPublished = ended.type === 'release-done';
  const [releasedAt, status] = isPublished ? [at, 'done'] : [null, 'failed'];
  const release = { id, name, releasedAt, scheduledAt, timezone, status };
  const error = isPublished
    ? undefined
    : { message: 'Release failed to publish', details: { problems: ended.data.problems } };
  return { event: 'releases.publish', createdAt: at, isPublished, ...defined({ error }), release, ...marks };
}

function wantedBy(
  action: DocumentAction,
  hooks: readonly Webhook[],
  only: string | undefined,
): readonly Webhook[] {
  return hooks.filter((hook) => wants(hook, action) && isNamed(hook, action, only));
}

function isNamed(hook: Webhook, action: DocumentAction, only: string | undefined): boolean {
  return only === undefined || deliveryId(nameOf(hook, action)) === only;
}

function nameOf({ id }: Webhook, { event, type, documentId, events: [first] }: DocumentAction) {
  return { hook: id, event, type, documentId, position: String(first.position) };
}

async function deliver(
  options: BodyOptions,
  action: DocumentAction,
  hooks: readonly Webhook[],
  marks: BodyMarks,
): Promise<readonly NewDelivery[]> {
  if (hooks.length === 0) return [];
  const write = createBodyWriter(options, action, marks);
  const { position } = action.events[0];
  return Promise.all(
    hooks.map(async (hook) => {
      const named = nameOf(hook, action);
      return { ...named, position, id: deliveryId(named), body: await write(hook.populate) };
    }),
  );
}

/** Returns whether the hook existed at this position. */
function isOwed(hook: Webhook, { events: [first] }: DocumentAction): boolean {
  return hook.status !== 'disabled' && first.position > hook.since;
}

function wants(hook: Webhook, action: DocumentAction): boolean {
  const { locales } = hook;
  const { event, type, rows } = action;
  return (
    isOwed(hook, action) &&
    hook.events.includes(event) &&
    (hook.types.length === 0 || hook.types.includes(type)) &&
    (locales.length === 0 || rows.some(({ locale }) => locale === null || locales.includes(locale)))
  );
}

/** Returns documents that are linked with this document and have rows in a world that the action changed. */
function relatedActions(options: BodyOptions, action: DocumentAction): readonly DocumentAction[] {
  const worlds = new Set<string>(
    action.rows.flatMap(({ version }) =>
      version === 'draft' || version === 'published' ? [version] : WORLDS,
    ),
  );
  const { events } = action;
  return relatedDocuments(options, action, worlds).map((related) => ({
    ...related,
    event: 'entry.related-change',
    events,
    removes: false,
  }));
}
