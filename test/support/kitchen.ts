import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';

/**
 * Two content types with drafts: dishes and their cooks. The expected state at each position of a log is computed from the events
 * alone, without code of Varve.
 */
export type Dish = { readonly documentId: string; readonly name: string; readonly cook: string | null };
/** Query for the dishes whose cook's name contains a letter, or for all dishes. */
export type KitchenQuery = { readonly world: 'draft' | 'published'; readonly cookContains?: string };

export function createKitchenTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-kitchen-'));
  const type = (name: string, attributes: object) => {
    mkdirSync(join(folder, name));
    const schema = {
      kind: 'collectionType',
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish: true },
      attributes: { name: { type: 'string' }, ...attributes },
    };
    writeFileSync(join(folder, name, 'schema.json'), JSON.stringify(schema));
  };
  const relation = (kind: string, target: string, inverse: object) => ({
    ...{ type: 'relation', relation: kind, target: `api::${target}.${target}` },
    ...inverse,
  });
  type('dish', { cook: relation('manyToOne', 'cook', { inversedBy: 'dishs' }) });
  type('cook', { dishs: relation('oneToMany', 'dish', { mappedBy: 'cook' }) });
  return folder;
}

type Version = { readonly name: string | null; readonly cook: string | null };
type Document = { draft: Version; published: Version | undefined };
type EventData = {
  readonly type: string;
  readonly documentId: string;
  readonly values?: { readonly name?: string | null };
  readonly relations?: readonly {
    readonly attribute: string;
    readonly targets: readonly { readonly documentId: string }[];
  }[];
};

/** State after the events so far. */
export type Kitchen = {
  apply(event: StoredEvent): void;
  /** Returns the dishes in order of documentId. */
  answer(query: KitchenQuery): readonly Dish[];
  /** Returns the cook of each dish, by documentId, also if the cook does not exist. */
  cookOf(world: KitchenQuery['world']): ReadonlyMap<string, string | null>;
  /** Returns the names of the cooks, by documentId. */
  cooks(world: KitchenQuery['world']): ReadonlyMap<string, string>;
};

export function createKitchen(): Kitchen {
  const dishes = new Map<string, Document>();
  const cooks = new Map<string, Document>();
  const remove = (documentId: string): void => {
    dishes.delete(documentId);
    cooks.delete(documentId);
    const without = (version: Version) =>
      version.cook === documentId ? { ...version, cook: null } : version;
    for (const dish of dishes.values()) {
      dish.draft = without(dish.draft);
      dish.published = dish.published && without(dish.published);
    }
  };
  return {
    apply({ type, data }) {
      const { documentId, ...edit } = data as EventData;
      if (!type.startsWith('entry-')) return;
      const all = edit.type === 'api::dish.dish' ? dishes : cooks;
      if (type === 'entry-deleted') return remove(documentId);
      const document = all.get(documentId) ?? { draft: { name: null, cook: null }, published: undefined };
      all.set(documentId, document);
      if (type === 'entry-published') document.published = document.draft;
      else document.draft = edited(document.draft, edit);
    },
    cookOf: (world) => new Map([...dishes].map(([id, document]) => [id, document[world]?.cook ?? null])),
    cooks: (world) =>
      new Map(
        [...cooks].flatMap(([id, document]) => (document[world] ? [[id, document[world].name ?? '']] : [])),
      ),
    answer({ world, cookContains }) {
      const found: Dish[] = [];
      for (const [documentId, document] of dishes) {
        const version = document[world];
        const cook =
          version?.cook === undefined || version.cook === null ? undefined : cooks.get(version.cook)?.[world];
        if (version === undefined) continue;
        if (cookContains !== undefined && !(cook?.name ?? '').includes(cookContains)) continue;
        found.push({ documentId, name: version.name ?? '', cook: cook?.name ?? null });
      }
      return found.sort((a, b) => (a.documentId < b.documentId ? -1 : 1));
    },
  };
}

function edited(before: Version, { values, relations }: Pick<EventData, 'values' | 'relations'>): Version {
  const operation = relations?.find(({ attribute }) => attribute === 'cook');
  return {
    name: values?.name === undefined ? before.name : values.name,
    cook: operation === undefined ? before.cook : (operation.targets[0]?.documentId ?? null),
  };
}

/** Sends a query to a server. Throws unless it answers 200. */
export async function askKitchen(
  url: string,
  { world, cookContains }: KitchenQuery,
): Promise<readonly Dish[]> {
  const filter = cookContains === undefined ? '' : `&filters[cook][name][$contains]=${cookContains}`;
  const query = `status=${world}&populate=cook&sort=name&pagination[pageSize]=100${filter}`;
  const response = await fetch(`${url}/api/dishs?${query}`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET dishs?${query}: ${response.status} ${text}`);
  const { data } = JSON.parse(text) as { data: (Omit<Dish, 'cook'> & { cook: { name: string } | null })[] };
  return data
    .map(({ documentId, name, cook }) => ({ documentId, name, cook: cook?.name ?? null }))
    .sort((a, b) => (a.documentId < b.documentId ? -1 : 1));
}
