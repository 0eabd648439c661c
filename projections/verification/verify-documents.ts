import { setTimeout as delay } from 'node:timers/promises';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type {
  StoredDocument,
  StoredDocuments,
  StoredFields,
  StoredKey,
} from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import { type GraphInspection, worldsOfKey } from '../graph/read/inspect-graph.ts';
import { documentName, staleDocumentsOf } from '../graph/stale/stale-documents.ts';
import { type IndexDifference, UNKNOWN_DOCUMENT, type VerificationLine } from './difference.ts';
import { documentsOfGraph, documentsOfIndex } from './documents-of.ts';

export type DocumentVerification = {
  readonly graph: ContentGraph;
  readonly stored: StoredDocuments;
  readonly present: DocumentIndex['present'];
  readonly repair: boolean;
  /** Types whose indices cannot be compared. */
  readonly except: readonly Uid[];
  /** Schedules a rewrite of documents. */
  readonly remake: (documents: readonly StoredKey[]) => Promise<void>;
  /** False: no process writes the index, so a document that waits to be written stays undecided. */
  readonly waits: boolean;
  readonly signal: AbortSignal;
};

const SLICE = 200;
const KEYS_AT_ONCE = 5_000;
const RETRY_MS = 250;
/** Milliseconds after which an undecided document is reported as waiting: it changes constantly, or the engine accepts none. */
const UNDECIDED_MS = 30_000;
/** The same time if no process writes: searches may show the last writes a moment later. */
const UNWRITTEN_MS = 2_000;

/**
 * Compares an index of documents with its graph while both continue to change. A document that differs is read again. It counts as
 * different only if it had no pending write before and after the read. With `repair`, differing documents are made again, and read once
 * more: an index may keep a wrong state that counts as newer. Throws when `signal` is aborted or the index cannot be read.
 */
export async function* verifyDocuments(options: DocumentVerification): AsyncGenerator<VerificationLine> {
  const { graph } = options;
  const { rows: count } = graph.size();
  const waiting = new Map<string, StoredKey>();
  const remade: IndexDifference[] = [];
  let checked = 0;
  for (const slices of [documentsOfGraph(graph, SLICE), extraDocuments(options)]) {
    for await (const found of slices) {
      options.signal.throwIfAborted();
      const keys = found.filter(({ type }) => !options.except.includes(type));
      yield* compareKeys(options, keys, { waiting, remade, again: false });
      checked += keys.length;
      yield { kind: 'progress', checked, rows: 2 * count };
    }
  }
  const undecidedMs = options.waits ? UNDECIDED_MS : UNWRITTEN_MS;
  let deadline = performance.now() + undecidedMs;
  while (waiting.size > 0 && performance.now() < deadline) {
    const again = [...waiting.values()].slice(0, SLICE);
    for (const key of again) waiting.delete(documentName(key));
    const before = waiting.size;
    yield* compareKeys(options, again, { waiting, remade, again: true });
    if (waiting.size > before) await delay(RETRY_MS, undefined, { signal: options.signal });
    else deadline = performance.now() + undecidedMs;
  }
  for (const difference of await checkAgain(options, remade)) yield { kind: 'difference', ...difference };
  if (waiting.size > 0) yield { kind: 'waiting', documents: waiting.size };
}

/** Reads documents that were made again once more, as soon as they are written. Returns which of them are right now. */
async function checkAgain(
  options: DocumentVerification,
  remade: readonly IndexDifference[],
): Promise<readonly IndexDifference[]> {
  const { graph, stored, signal } = options;
  const stale = staleDocumentsOf(graph);
  const deadline = performance.now() + UNDECIDED_MS;
  while (remade.some((each) => stale.isWaiting(each)) && performance.now() < deadline)
    await delay(RETRY_MS, undefined, { signal });
  const checked: IndexDifference[] = [];
  for (let at = 0; at < remade.length; at += SLICE) {
    const slice = remade.slice(at, at + SLICE);
    await stored.refresh(slice);
    const found = await stored.read(slice);
    const inspection = graph.inspect();
    for (const [i, each] of slice.entries()) {
      const names = differingNames(expectedFields(options, inspection, each), found[i], graph.position());
      // A document that has changed meanwhile is not the one that differed.
      checked.push({ ...each, repaired: names.length === 0 || stale.isWaiting(each) });
    }
  }
  return checked;
}

/** Yields documents whose row no longer exists. */
async function* extraDocuments({
  graph,
  stored,
}: DocumentVerification): AsyncGenerator<readonly StoredKey[]> {
  const read = (type: Uid, world: World, after: number) => stored.keysAfter(type, world, after, KEYS_AT_ONCE);
  for await (const { type, world, found } of documentsOfIndex(graph, read, (key) => key)) {
    const expected = graph.inspect().world(world);
    const extra = found.filter((key) => !belongs(key, world) || expected.row(type, key) === undefined);
    yield extra.map((key) => ({ type, world, key }));
  }
}

function belongs(key: number, world: World): boolean {
  return worldsOfKey(key).includes(world);
}

type Comparing = {
  readonly waiting: Map<string, StoredKey>;
  /** Differences that are repaired and not yet checked. */
  readonly remade: IndexDifference[];
  /** True if the documents were compared before. */
  readonly again: boolean;
};

/**
 * Reports differences. Adds undecided documents to `waiting`. These are documents with pending writes. At first they are also all that
 * differ, because searches see writes a little later.
 */
async function* compareKeys(
  options: DocumentVerification,
  keys: readonly StoredKey[],
  { waiting, remade, again }: Comparing,
): AsyncGenerator<VerificationLine> {
  const { graph, stored, repair } = options;
  const stale = staleDocumentsOf(graph);
  const inspection = graph.inspect();
  const expected = keys.map((key) => expectedFields(options, inspection, key));
  const wasWaiting = keys.map((key) => stale.isWaiting(key));
  if (again) await stored.refresh(keys);
  const found = await stored.read(keys);
  const differing: StoredKey[] = [];
  for (const [at, key] of keys.entries()) {
    const names = differingNames(expected[at], found[at], graph.position());
    if (names.length === 0) continue;
    const isSettled = again && wasWaiting[at] === false && !stale.isWaiting(key);
    const isSame = isSameFields(expectedFields(options, graph.inspect(), key), expected[at]);
    if (!isSettled || !isSame) waiting.set(documentName(key), key);
    else {
      const difference = describe(graph, key, names);
      if (repair) remade.push(difference);
      else yield { kind: 'difference', ...difference };
      differing.push(key);
    }
  }
  if (repair && differing.length > 0) await options.remake(differing);
}

/** Returns the expected fields of a document; undefined if there should be no document. */
function expectedFields(
  { graph, present, stored }: DocumentVerification,
  inspection: GraphInspection,
  { type, world, key }: StoredKey,
): StoredFields | undefined {
  const neighbours = inspection.world(world);
  if (!belongs(key, world) || neighbours.row(type, key) === undefined) return undefined;
  return stored.fieldsOf(present({ type, world, key, position: graph.position() }, neighbours));
}

function describe(
  graph: ContentGraph,
  { type, world, key }: StoredKey,
  differing: readonly string[],
): IndexDifference {
  const { documentId, locale } = graph.inspect().nameOf(key) ?? UNKNOWN_DOCUMENT;
  return { type, world, key, documentId, locale, differing, repaired: false };
}

function differingNames(
  expected: StoredFields | undefined,
  found: StoredDocument | undefined,
  position: bigint,
): readonly string[] {
  if (expected === undefined) return found === undefined ? [] : ['unexpected'];
  if (found === undefined) return ['missing'];
  const names = namesThatDiffer(expected, found.fields);
  // A rewrite would not replace it, because the index keeps the newer state.
  return names.length > 0 && found.position > position ? ['newer than the log'] : names;
}

function isSameFields(a: StoredFields | undefined, b: StoredFields | undefined): boolean {
  return namesThatDiffer(a ?? {}, b ?? {}).length === 0;
}

function namesThatDiffer(a: StoredFields, b: StoredFields): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]);
}
