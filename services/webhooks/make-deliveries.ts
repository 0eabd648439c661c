import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { RowVersion } from '../../shared/read-index/read-index.ts';
import type { OpenDelivery } from '../../shared/webhooks/webhook-events.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import type { NewDelivery } from './delivery-store.ts';
import { type DocumentAction, documentActions } from './document-actions.ts';
import { type BodyMarks, type BodyOptions, createBodyWriter } from './webhook-body.ts';

/** Id of a delivery: the same in every process, and after every restart. */
export function deliveryId({
  hook,
  position,
  event,
  type,
  documentId,
}: Pick<OpenDelivery, 'hook' | 'position' | 'event' | 'type' | 'documentId'>): string {
  // A full stop separates the parts of what is signed.
  return ['wh', hook, position, event, type, documentId].join('_').replaceAll(/[^A-Za-z0-9_-]/g, '-');
}

/** Deliveries of events to hooks that want them. Reads must show the events. */
export async function makeDeliveries(
  options: BodyOptions,
  events: readonly StoredEvent[],
  hooks: readonly Webhook[],
  marks: BodyMarks = {},
): Promise<readonly NewDelivery[]> {
  const made: NewDelivery[] = [];
  for (const action of documentActions(events, options.registry)) {
    made.push(...(await deliver(options, action, hooks, marks)));
    const wanting = hooks.filter((hook) => hook.events.includes('entry.related-change'));
    if (wanting.length === 0) continue;
    for (const related of relatedActions(options, action)) {
      const { event, type: uid, documentId } = action;
      const cause = { event, uid, documentId };
      made.push(...(await deliver(options, related, wanting, { ...marks, cause })));
    }
  }
  return made;
}

async function deliver(
  options: BodyOptions,
  action: DocumentAction,
  hooks: readonly Webhook[],
  marks: BodyMarks,
): Promise<readonly NewDelivery[]> {
  const wanting = hooks.filter((hook) => wants(hook, action));
  if (wanting.length === 0) return [];
  const write = createBodyWriter(options, action, marks);
  const { event, type, documentId } = action;
  const { position } = action.events[0];
  return Promise.all(
    wanting.map(async (hook) => {
      const named = { hook: hook.id, event, type, documentId };
      const body = await write(hook.populate);
      return { ...named, position, id: deliveryId({ ...named, position: String(position) }), body };
    }),
  );
}

function wants(hook: Webhook, { event, type, rows, events: [first] }: DocumentAction): boolean {
  const { locales } = hook;
  return (
    hook.status !== 'disabled' &&
    first.position > hook.since &&
    hook.events.includes(event) &&
    (hook.types.length === 0 || hook.types.includes(type)) &&
    (locales.length === 0 || rows.some(({ locale }) => locale === null || locales.includes(locale)))
  );
}

/** Documents that are linked with this one and have rows in a world that the action changed. */
function relatedActions(options: BodyOptions, action: DocumentAction): readonly DocumentAction[] {
  const { registry, graph } = options;
  const { type, documentId, events } = action;
  const worlds = new Set<string>(action.rows.flatMap(({ version }) => WORLDS_OF[version]));
  const attributes = registry.contentTypes.get(type)?.attributes;
  const linked = graph.recorded.links(type, documentId).flatMap(({ attribute, far }) => {
    const relation = attributes?.get(attribute);
    return relation?.kind === 'relation' ? [{ type: relation.target, documentId: far.documentId }] : [];
  });
  const names = [...linked, ...graph.recorded.owners(type, documentId)];
  const related = new Map(names.map((name) => [`${name.type} ${name.documentId}`, name]));
  related.delete(`${type} ${documentId}`);
  return [...related.values()].flatMap((name) => {
    if (registry.contentTypes.get(name.type)?.builtIn !== false) return [];
    const rows = graph.reader
      .entries(name.type, name.documentId)
      .filter(({ version }) => version === 'live' || worlds.has(version));
    if (rows.length === 0) return [];
    return [{ ...name, event: 'entry.related-change', events, rows, removes: false } as const];
  });
}

const WORLDS_OF: Readonly<Record<RowVersion | 'all', readonly ('draft' | 'published')[]>> = {
  draft: ['draft'],
  published: ['published'],
  live: ['draft', 'published'],
  all: ['draft', 'published'],
};
