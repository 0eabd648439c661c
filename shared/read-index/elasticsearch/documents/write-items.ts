import { defined } from '../../../defined.ts';
import type { Neighbours } from '../../document-index.ts';
import type { IndexedComponent } from '../../read-index.ts';
import type { Place, PlacedComponents, PlacedZone } from '../layout/document-layout.ts';
import type { StoredLinks, StoredPart } from '../layout/index-document.ts';
import { type ByteSink, putByte, writeText } from './byte-sink.ts';
import { writeColumns, writeTexts } from './write-columns.ts';

/** A component, and the node of its fields. */
type PlacedPart = { readonly place: Place; readonly part: IndexedComponent };

type Writing = {
  readonly sink: ByteSink;
  readonly neighbours: Neighbours;
  /** Links of the components of one item. */
  readonly links: Map<IndexedComponent, StoredLinks>;
  /** Number of the items that this item contains. */
  contained: number;
};

const CLOSING_BRACE = 0x7d;

/**
 * Writes a component of a dynamic zone, or of a list in one, as an item of the list that it shares (see `SharedItem`). The item has the
 * columns and links of the single components in it too. Returns the component as `populate` reads it.
 */
export function writeItem(
  sink: ByteSink,
  neighbours: Neighbours,
  place: Place,
  part: IndexedComponent,
): StoredPart {
  const writing: Writing = { sink, neighbours, links: new Map(), contained: 0 };
  const parts = partsOfItem(place, part);
  const columns = parts.map((each) => ({ place: each.place, fields: each.part.fields }));
  writeText(sink, `{"at":${JSON.stringify(place.item?.mark)},`);
  writeColumns(sink, columns);
  writeTexts(sink, columns);
  writeKeys(writing, parts);
  const stored = writeContained(writing, place, part);
  writeText(sink, writing.contained > 0 ? ']}' : '}');
  return stored;
}

/** Returns the node of an item. Throws if a dynamic zone does not have its kind. */
export function placeOfItem(step: PlacedComponents | PlacedZone, { component }: IndexedComponent): Place {
  const place = step.kind === 'zone' ? step.components.get(component) : step.place;
  if (place === undefined) throw new Error(`${component} does not belong in ${step.objectField}`);
  return place;
}

/** Returns the component itself, and the single components in it. */
function partsOfItem(place: Place, part: IndexedComponent): readonly PlacedPart[] {
  const below = [...place.steps.values()].flatMap((step) => {
    const [only] = part.components[step.attribute] ?? [];
    return step.kind === 'component' && !step.list && only !== undefined ? partsOfItem(step.place, only) : [];
  });
  return [{ place, part }, ...below];
}

/** Writes `"t":{…}`, if there are any links. */
function writeKeys({ sink, neighbours, links }: Writing, parts: readonly PlacedPart[]): void {
  let t = 0;
  for (const { place, part } of parts) {
    const found: { [attribute: string]: StoredLinks[string] } = {};
    for (const step of place.steps.values()) {
      if (step.kind !== 'relation' || step.linkField === undefined) continue;
      const linked = neighbours.linked(place.rowSet, part.key, step.attribute);
      if (linked.length === 0) continue;
      writeText(sink, `${t++ === 0 ? ',"t":{' : ','}${step.member}[${linked.map(({ key }) => key).join()}]`);
      found[step.attribute] = linked.map(({ key, otherOrder }) => [key, otherOrder]);
      links.set(part, found);
    }
  }
  if (t > 0) putByte(sink, CLOSING_BRACE);
}

/** Writes the beginning of `"c":[…]` and the items in it, if there are any. */
function writeContained(writing: Writing, place: Place, part: IndexedComponent): StoredPart {
  const { sink, neighbours, links } = writing;
  const components: { [attribute: string]: readonly StoredPart[] } = {};
  for (const step of place.steps.values()) {
    const items = part.components[step.attribute] ?? [];
    if (step.kind === 'relation' || items.length === 0) continue;
    components[step.attribute] =
      step.kind === 'zone' || step.list
        ? items.map((item) => {
            writeText(sink, writing.contained++ === 0 ? ',"c":[' : ',');
            return writeItem(sink, neighbours, placeOfItem(step, item), item);
          })
        : items.slice(0, 1).map((item) => writeContained(writing, step.place, item));
  }
  return {
    key: part.key,
    component: part.component,
    source: Buffer.from(part.source).toString(),
    ...defined({
      links: links.get(part),
      components: Object.keys(components).length === 0 ? undefined : components,
    }),
  };
}
