import type { Entry } from '../../shared/document/entry.ts';
import type { ImportedTarget, LinkTarget } from '../../shared/document/events.ts';
import type { RecordedLink } from '../../shared/document/recorded-rows.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { targetKey } from './rest-row.ts';
import { worldOf } from './source.ts';

/** Document of the content graph. */
export type GraphDocument = {
  readonly entries: readonly Entry[];
  readonly links: readonly RecordedLink[];
};

/** Returns the targets that a row owns through an attribute, in order and in the form of its event. */
export function storedOwned(
  stored: GraphDocument,
  { version, locale }: Pick<Entry, 'version' | 'locale'>,
  attribute: string,
): readonly (ImportedTarget & { readonly order: number })[] {
  const inWorld = (world: World) =>
    storedTargets(stored, { attribute, locale, world }).map(({ far, targetOrder }) => ({
      ...far,
      order: targetOrder,
    }));
  if (version !== 'live') return inWorld(worldOf({ version }));
  return joinTargets(inWorld('draft'), inWorld('published'), () => true);
}

/** Target of a link in one world. Without a world the link is in all worlds of its owner. */
export type TargetInWorld = LinkTarget & { readonly world?: World };

/** Joins the targets of an owner without versions. A target gets no world if both worlds have it, or if `isDraftOnly` is false for it. */
export function joinTargets<Target extends LinkTarget>(
  draft: readonly Target[],
  published: readonly Target[],
  isDraftOnly: (target: Target) => boolean,
): readonly (Target & TargetInWorld)[] {
  const [drafts, publications] = [new Set(draft.map(targetKey)), new Set(published.map(targetKey))];
  return [
    ...draft.map((target) =>
      publications.has(targetKey(target)) || !isDraftOnly(target)
        ? target
        : { ...target, world: 'draft' as const },
    ),
    ...published
      .filter((target) => !drafts.has(targetKey(target)))
      .map((target) => ({ ...target, world: 'published' as const })),
  ];
}

/** Relation attribute of a row. */
type LinkList = { readonly attribute: string; readonly locale: string | null; readonly world: World };

/** Returns the links of a relation attribute in a world, in the order of the owner's list. */
export function storedTargets(
  { links }: GraphDocument,
  { attribute, locale, world }: LinkList,
): readonly RecordedLink[] {
  return links
    .filter((link) => link.attribute === attribute && link.locale === locale && link.world === world)
    .sort((a, b) => a.sourceOrder - b.sourceOrder);
}
