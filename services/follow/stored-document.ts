import type { Entry } from '../../shared/document/entry.ts';
import type { ImportedTarget } from '../../shared/document/events.ts';
import type { RecordedLink } from '../../shared/document/recorded-rows.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { targetKey } from './rest-row.ts';

/** Document of the content graph. */
export type GraphDocument = {
  readonly entries: readonly Entry[];
  readonly links: readonly RecordedLink[];
};

/** Returns the targets that a row owns through an attribute, in order and in the form of its event. */
export function storedOwned(
  stored: GraphDocument,
  { version, locale }: { readonly version: string; readonly locale: string | null },
  attribute: string,
): readonly (ImportedTarget & { readonly order: number })[] {
  const inWorld = (world: World) =>
    storedTargets(stored, { attribute, locale, world }).map(({ far, targetOrder }) => ({
      ...far,
      order: targetOrder,
    }));
  if (version !== 'live') return inWorld(version === 'published' ? 'published' : 'draft');
  const [draft, published] = [inWorld('draft'), inWorld('published')];
  const [drafts, publications] = [new Set(draft.map(targetKey)), new Set(published.map(targetKey))];
  return [
    ...draft.map((target) =>
      publications.has(targetKey(target)) ? target : { ...target, world: 'draft' as const },
    ),
    ...published
      .filter((target) => !drafts.has(targetKey(target)))
      .map((target) => ({ ...target, world: 'published' as const })),
  ];
}

/** Relation attribute of a row. */
type LinkList = { readonly attribute: string; readonly locale: string | null; readonly world: World };

/** Returns the links of a relation attribute in a world, in order. `side` is the side whose list it is. */
export function storedTargets(
  { links }: GraphDocument,
  { attribute, locale, world }: LinkList,
  side: 'owner' | 'inverse' = 'owner',
): readonly RecordedLink[] {
  const order = (link: RecordedLink) => (side === 'owner' ? link.sourceOrder : link.targetOrder);
  return links
    .filter((link) => link.attribute === attribute && link.locale === locale && link.world === world)
    .sort((a, b) => order(a) - order(b));
}
