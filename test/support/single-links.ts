import type { ChangeBatch, LinkChange } from '../../shared/read-index/read-index.ts';
import type { Attribute, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/**
 * Adds removals of links to histories, as the content graph does. If a side of a relation may have one row, a new link replaces the old
 * one. (The embedded index itself would keep both.)
 */
export function singleLinks(
  registry: SchemaRegistry,
  batches: readonly ChangeBatch[],
): readonly ChangeBatch[] {
  let present: LinkChange[] = [];
  return batches.map((batch) => ({
    ...batch,
    links: batch.links.flatMap((link) => {
      present = present.filter((other) => !isSame(link, other));
      if (link.order === null) return [link];
      const stolen = present.filter((other) => collides(registry, link, other));
      present = [...present.filter((other) => !stolen.includes(other)), link];
      return [...stolen.map((other) => ({ ...other, order: null })), link];
    }),
  }));
}

function isOfSameRelation(a: LinkChange, b: LinkChange): boolean {
  const place = JSON.stringify([a.rowSet, a.attribute, a.world]);
  return place === JSON.stringify([b.rowSet, b.attribute, b.world]);
}

function isSame(a: LinkChange, b: LinkChange): boolean {
  return isOfSameRelation(a, b) && a.source === b.source && a.target === b.target;
}

function collides(registry: SchemaRegistry, link: LinkChange, other: LinkChange): boolean {
  if (!isOfSameRelation(link, other)) return false;
  const owner = ownerOf(registry, link);
  if (owner?.kind !== 'relation') return false;
  if (!owner.toMany && other.source === link.source) return true;
  const inverse =
    owner.inversedBy === undefined
      ? undefined
      : contentTypeOf(registry, owner.target).attributes.get(owner.inversedBy);
  return inverse?.kind === 'relation' && !inverse.toMany && other.target === link.target;
}

function ownerOf(registry: SchemaRegistry, { rowSet, attribute }: LinkChange): Attribute | undefined {
  let attributes = contentTypeOf(registry, rowSet.type).attributes;
  for (const { attribute: name, zoneComponent } of rowSet.path) {
    const step = attributes.get(name);
    const uid: Uid = zoneComponent ?? (step?.kind === 'component' ? step.component : '');
    attributes = registry.components.get(uid)?.attributes ?? new Map();
  }
  return attributes.get(attribute);
}
