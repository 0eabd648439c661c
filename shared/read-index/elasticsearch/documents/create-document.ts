import { hash } from 'node:crypto';
import { defined } from '../../../defined.ts';
import type { Neighbour, Neighbours } from '../../document-index.ts';
import type { IndexedComponent, IndexedRow } from '../../read-index.ts';
import {
  type DocumentLayout,
  hasLinkKeys,
  type Place,
  type PlacedRelation,
  type PlacedStep,
} from '../layout/document-layout.ts';
import type { StoredLinks, StoredPart, StoredParts } from '../layout/index-document.ts';
import { type ByteSink, overwrite, putByte, putBytes, sizeOf, writeText, writtenSince } from './byte-sink.ts';
import { copiesAt } from './copies.ts';
import { cachedOwnPart, cacheOwnPart, writeOrCopy } from './own-part.ts';
import { pathEnds, sortsText } from './sort-values.ts';
import { type RowNode, writeColumns, writeTexts } from './write-columns.ts';
import { placeOfItem, writeItem } from './write-items.ts';
import { writePoints } from './write-points.ts';
import { type FieldTexts, writeWords } from './write-words.ts';

type Members<T> = { [name: string]: T };
type PlacedItems = Exclude<PlacedStep, PlacedRelation>;

/** Inputs of a document besides its row, and the sink. */
type Making = Pick<DocumentLayout, 'mostCopies'> & {
  readonly sink: ByteSink;
  readonly neighbours: Neighbours;
};

const [COMMA, OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [
  0x2c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** Characters of the digest in base64: 144 bits of the SHA-256. */
const SUM_LENGTH = 24;
/** Placeholder with the length of a digest. */
const NO_SUM = digestOf('');

/**
 * Writes a row's document, made from the row and its surroundings in one world, as the JSON of a `DocumentBody`. Its first member `sum` is
 * a digest for comparing an index with its expected content. It covers the rest except for the row's own text grams and words, which come
 * last and follow from its columns. Pure, given `neighbours`.
 */
export function writeDocument(
  sink: ByteSink,
  layout: DocumentLayout,
  { key, row }: { readonly key: number; readonly row: IndexedRow },
  neighbours: Neighbours,
): void {
  const making: Making = { sink, neighbours, mostCopies: layout.mostCopies };
  const node: RowNode = { key, fields: row.fields, components: row.components };
  const own = cachedOwnPart(sink, layout, row);
  writeText(sink, '{"sum":"');
  const sumAt = sizeOf(sink);
  writeText(sink, NO_SUM);
  const from = sizeOf(sink);
  const head = writeOrCopy(sink, own?.head, () => {
    const { buffer, byteOffset, byteLength } = row.source;
    const source = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
    writeText(sink, `","key":${key},"src":"${source}",`);
    writeColumns(sink, [{ place: layout.root, fields: node.fields }]);
    writePoints(sink, layout.points, node.fields);
  });
  const { links, parts } = writeAround(making, layout.root, node, true);
  if (links !== undefined) writeText(sink, `,"links":"${base64Json(links)}"`);
  if (parts !== undefined) writeText(sink, `,"parts":"${base64Json(parts)}"`);
  const sorts = sortsText(neighbours, layout, node);
  if (sorts !== '') writeText(sink, `,"s":{${sorts}}`);
  const summed = { from, to: sizeOf(sink) };
  const sum = own?.summed.equals(writtenSince(sink, from)) ? own.sum : digestOf(writtenSince(sink, from));
  overwrite(sink, sumAt, sum);
  const hasThrough = layout.words.fields.some(({ path }) => path.length > 0);
  const texts = writeOrCopy(sink, own?.texts, () => {
    writeTexts(sink, [{ place: layout.root, fields: node.fields }]);
    if (!hasThrough) writeWords(sink, layout.words, row.fields, ({ attribute }) => [row.fields[attribute]]);
  });
  if (hasThrough) writeWords(sink, layout.words, row.fields, textsAround(making, layout, node));
  putByte(sink, CLOSING_BRACE);
  cacheOwnPart(sink, layout, row, { head, texts, summed, sum });
}

/** Returns the texts of the row and of related rows, each row once. */
function textsAround({ neighbours }: Making, { root }: DocumentLayout, node: RowNode): FieldTexts {
  return ({ path, attribute }) => {
    const ends = new Map(
      pathEnds(neighbours, root, node, path).flatMap((end) => (end === null ? [] : [[end.key, end]])),
    );
    return [...ends.values()].map(({ fields }) => fields[attribute]);
  };
}

function digestOf(body: string | Uint8Array): string {
  return hash('sha256', body, 'base64').slice(0, SUM_LENGTH);
}

function base64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Data for `populate` of the document's own row and its components. */
type Kept = { readonly links?: StoredLinks; readonly parts?: StoredParts };

const NOTHING_KEPT: Kept = Object.freeze({});

/** Writes the members of an object below the root. `own`: the object is a component of the document's row. */
function writeBody(making: Making, place: Place, node: RowNode, own: boolean): Kept {
  const columns = [{ place, fields: node.fields }];
  writeColumns(making.sink, columns);
  writeTexts(making.sink, columns);
  return writeAround(making, place, node, own);
}

/** Writes the members that follow a node's own columns. */
function writeAround(making: Making, place: Place, node: RowNode, own: boolean): Kept {
  if (place.steps.size === 0) return NOTHING_KEPT;
  const parts = writeComponents(making, place, node, own);
  const links = writeLinked(making, place, node, own);
  return { ...defined({ links, parts }) };
}

/** A relation of a node, and the rows that are linked there. */
type LinkedStep = { readonly step: PlacedRelation; readonly linked: readonly Neighbour[] };

function linkedSteps({ neighbours }: Making, place: Place, node: RowNode): readonly LinkedStep[] {
  const steps: LinkedStep[] = [];
  for (const step of place.steps.values()) {
    if (step.kind !== 'relation' || (step.linkField === undefined && step.embedded === undefined)) continue;
    const linked = neighbours.linked(place.rowSet, node.key, step.attribute);
    if (linked.length > 0) steps.push({ step, linked });
  }
  return steps;
}

/** Returns whether there are too many linked rows to copy. */
function isUncopied({ mostCopies }: Making, { step, linked }: LinkedStep): boolean {
  return step.embedded?.list === true && linked.length > mostCopies;
}

/** Writes `"e":{…}`, `"t":{…}` and `"u":[…]`, if there are any links. */
function writeLinked(making: Making, place: Place, node: RowNode, own: boolean): StoredLinks | undefined {
  const { sink } = making;
  const steps = linkedSteps(making, place, node);
  if (steps.length === 0) return undefined;
  writeCopies(making, steps);
  const links: Members<StoredLinks[string]> = {};
  let t = '';
  for (const { step, linked } of steps) {
    if (!hasLinkKeys(step)) continue;
    t += `,${step.member}[${linked.map(({ key }) => key).join()}]`;
    if (own) links[step.attribute] = linked.map(({ key, otherOrder }) => [key, otherOrder]);
  }
  if (t !== '') writeText(sink, `,"t":{${t.slice(1)}}`);
  const uncopied = steps.filter((each) => isUncopied(making, each)).map(({ step }) => step.attribute);
  if (uncopied.length > 0) writeText(sink, `,"u":${JSON.stringify(uncopied)}`);
  return own && t !== '' ? links : undefined;
}

/** Writes `"e":{…}`, if there are any copies. */
function writeCopies(making: Making, steps: readonly LinkedStep[]): void {
  const { sink } = making;
  let e = 0;
  for (const each of steps) {
    const copies = isUncopied(making, each) ? [] : linkedCopies(making, each.step, each.linked);
    if (copies.length === 0) continue;
    writeText(sink, (e++ === 0 ? ',"e":{' : ',') + each.step.member);
    writeList(sink, copies, each.step.embedded?.list === true);
  }
  if (e > 0) putByte(sink, CLOSING_BRACE);
}

function writeList(sink: ByteSink, copies: readonly Buffer[], list: boolean): void {
  for (const [at, copy] of copies.entries()) {
    if (list) putByte(sink, at === 0 ? OPENING_BRACKET : COMMA);
    putBytes(sink, copy);
  }
  if (list) putByte(sink, CLOSING_BRACKET);
}

/** Returns copies of the linked rows, if the relation is copied. Each copy is made once for all documents that show it. */
function linkedCopies(
  making: Making,
  { target, embedded }: PlacedRelation,
  linked: readonly { readonly key: number }[],
): readonly Buffer[] {
  if (embedded === undefined) return [];
  const { sink, neighbours } = making;
  const { place, list } = embedded;
  const known = copiesAt(neighbours, place);
  const copies: Buffer[] = [];
  for (const { key } of list ? linked : linked.slice(0, 1)) {
    let copy = known.get(key);
    if (copy === undefined) {
      const row = neighbours.row(target, key);
      if (row === undefined) continue;
      // The copy is written after the unfinished document, and then removed from the sink.
      const from = sizeOf(sink);
      writeText(sink, `{"key":${key},`);
      writeBody(making, place, { key, fields: row.fields, components: row.components }, false);
      putByte(sink, CLOSING_BRACE);
      copy = Buffer.from(writtenSince(sink, from));
      sink.end = sink.start + from;
      known.set(key, copy);
    }
    copies.push(copy);
  }
  return copies;
}

/** Writes `"c":{…}`, if there are any components. */
function writeComponents(making: Making, place: Place, node: RowNode, own: boolean): StoredParts | undefined {
  const { sink } = making;
  const parts: Members<readonly StoredPart[]> = {};
  let isFirst = true;
  for (const step of place.steps.values()) {
    if (step.kind === 'relation') continue;
    const items = node.components[step.attribute] ?? [];
    if (items.length === 0) continue;
    writeText(sink, (isFirst ? ',"c":{' : ',') + step.member);
    isFirst = false;
    const isOne = step.kind === 'component' && !step.list;
    const created = (isOne ? items.slice(0, 1) : items).map((item, at) => {
      if (!isOne) putByte(sink, at === 0 ? OPENING_BRACKET : COMMA);
      return writeComponent(making, step, item, own);
    });
    if (!isOne) putByte(sink, CLOSING_BRACKET);
    if (own) parts[step.attribute] = created;
  }
  if (isFirst) return undefined;
  putByte(sink, CLOSING_BRACE);
  return own ? parts : undefined;
}

function writeComponent(making: Making, step: PlacedItems, item: IndexedComponent, own: boolean): StoredPart {
  const { sink, neighbours } = making;
  if (step.kind === 'zone') return writeItem(sink, neighbours, placeOfItem(step, item), item);
  putByte(sink, OPENING_BRACE);
  const { links, parts } = writeBody(making, step.place, item, own);
  putByte(sink, CLOSING_BRACE);
  return {
    key: item.key,
    component: item.component,
    source: own ? Buffer.from(item.source).toString() : '',
    ...defined({ links, components: parts }),
  };
}
