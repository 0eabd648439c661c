import { compareItems, type FoundDifferences } from '../../projections/generations/compare-items.ts';
import type { Difference, Item } from '../../projections/generations/digest.ts';
import type { RebuildScope } from '../../projections/generations/generation.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { GraphInspection } from '../../projections/graph/read/inspect-graph.ts';
import type { DocumentKey } from '../../projections/graph/stale/stale-rows.ts';
import { UNKNOWN_DOCUMENT } from '../../projections/verification/difference.ts';
import { documentsOfGraph, documentsOfIndex } from '../../projections/verification/documents-of.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments, StoredKey } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { PhaseMeter } from './rebuild-host.ts';

/** Both sides of a comparison. Neither changes during it. */
export type ComparedDocuments = {
  /** Graph replayed from the log. */
  readonly derived: ContentGraph;
  readonly index: Pick<DocumentIndex, 'present'>;
  /** Documents of the new indices; searches show all of them. */
  readonly stored: StoredDocuments;
  readonly scope: RebuildScope;
  /** Returns whether Elasticsearch refuses a document, which is then not compared. */
  readonly isRefused: (document: DocumentKey) => boolean;
};

const ROWS_AT_ONCE = 200;
const SUMS_AT_ONCE = 5_000;
/** Number of differences that include the documents. The others only name them. */
const DETAILED = 50;

/**
 * Compares the documents in the new indices with those made from a replay of the log. It compares the sums of each index first, and
 * documents only where the sums differ.
 */
export async function verifyNewDocuments(
  compared: ComparedDocuments,
  meter: PhaseMeter,
  shown: number,
): Promise<FoundDifferences> {
  const { differences, count } = await compareItems(
    (groups) => expectedItems(compared, groups),
    (groups) => storedItems(compared, groups),
    meter,
    shown,
  );
  const detailed = await Promise.all(
    differences.slice(0, DETAILED).map((each) => addDetails(compared, each)),
  );
  return { differences: [...detailed, ...differences.slice(DETAILED)], count };
}

type Items = AsyncGenerator<readonly Item[]>;

function groupOf(type: Uid, world: World): string {
  return `documents of ${type}, ${world}`;
}

function isCompared(
  { scope }: ComparedDocuments,
  { type, world }: Omit<StoredKey, 'key'>,
  groups: ReadonlySet<string> | undefined,
): boolean {
  if ((scope.type ?? type) !== type || (scope.world ?? world) !== world) return false;
  return groups?.has(groupOf(type, world)) !== false;
}

/** Returns the expected documents, or only those of `groups`. */
async function* expectedItems(compared: ComparedDocuments, groups?: ReadonlySet<string>): Items {
  const { derived, index, stored } = compared;
  const inspection = derived.inspect();
  for await (const documents of documentsOfGraph(derived, ROWS_AT_ONCE)) {
    yield documents.flatMap((document) => {
      if (!isCompared(compared, document, groups) || compared.isRefused(document)) return [];
      const { type, world, key } = document;
      const made = { ...document, position: derived.position() };
      const sum = stored.sumOf(index.present(made, inspection.world(world)));
      return sum === undefined ? [] : [itemOf(inspection, groupOf(type, world), key, sum)];
    });
  }
}

async function* storedItems(compared: ComparedDocuments, groups?: ReadonlySet<string>): Items {
  const { derived, stored } = compared;
  const inspection = derived.inspect();
  const read = async (type: Uid, world: World, after: number) =>
    isCompared(compared, { type, world }, groups) ? stored.sumsAfter(type, world, after, SUMS_AT_ONCE) : [];
  for await (const { type, world, found } of documentsOfIndex(derived, read, ({ key }) => key)) {
    const items = found.filter(({ key }) => !compared.isRefused({ world, key }));
    yield items.map(({ key, sum }) => itemOf(inspection, groupOf(type, world), key, sum));
  }
}

function itemOf(inspection: GraphInspection, group: string, key: number, content: string): Item {
  return { group, name: nameOf(inspection, key), content };
}

/** Returns the name of a row, which begins with its key. */
function nameOf(inspection: GraphInspection, key: number): string {
  const { documentId, locale } = inspection.nameOf(key) ?? UNKNOWN_DOCUMENT;
  return [key, documentId, ...(locale === null ? [] : [locale])].join(' ');
}

/** Adds the parts of a document that answers contain, and the digest of the whole document. */
async function addDetails(
  { derived, index, stored }: ComparedDocuments,
  difference: Difference,
): Promise<Difference> {
  const [, type = '', world = ''] = /^documents of (.*), (draft|published)$/.exec(difference.group) ?? [];
  const key: StoredKey = { type, world: world as World, key: Number.parseInt(difference.name, 10) };
  const [found] = await stored.read([key]);
  const document = { ...key, position: derived.position() };
  const expected = stored.fieldsOf(index.present(document, derived.inspect().world(key.world)));
  const text = (sum: string | undefined, answer: string | undefined) =>
    sum === undefined ? undefined : `${Buffer.from(answer ?? '', 'base64').toString()} (${sum})`;
  return {
    ...difference,
    before: text(difference.before, expected?.['answer']),
    after: text(difference.after, found?.fields['answer']),
  };
}
