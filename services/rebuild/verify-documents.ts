import type { ContentGraph } from '../../projections/content-graph.ts';
import { compareItems, type FoundDifferences } from '../../projections/generations/compare-items.ts';
import type { Difference, Item } from '../../projections/generations/digest.ts';
import type { RebuildScope } from '../../projections/generations/generation.ts';
import { type GraphInspection, worldsOfKey } from '../../projections/graph/inspect-graph.ts';
import { UNKNOWN_DOCUMENT } from '../../projections/verification/difference.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import { WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments, StoredKey } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { PhaseMeter } from './rebuild-host.ts';

/** What is compared. Neither side changes meanwhile. */
export type ComparedDocuments = {
  /** Replayed from the log. */
  readonly derived: ContentGraph;
  readonly index: Pick<DocumentIndex, 'present'>;
  /** The new indices, with searches seeing everything. */
  readonly stored: StoredDocuments;
  readonly scope: RebuildScope;
};

const ROWS_AT_ONCE = 200;
const SUMS_AT_ONCE = 5_000;
/** So many of the differences tell what the documents are; the others only that they differ. */
const TOLD = 50;

/**
 * Compares the documents in the new indices with those that the log gives: sums of each index first, and the documents of those
 * that differ.
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
  const told = await Promise.all(differences.slice(0, TOLD).map((each) => tell(compared, each)));
  return { differences: [...told, ...differences.slice(TOLD)], count };
}

type Items = AsyncGenerator<readonly Item[]>;

function groupOf(type: Uid, world: World): string {
  return `documents of ${type}, ${world}`;
}

function isInScope({ type, world }: RebuildScope, document: Omit<StoredKey, 'key'>): boolean {
  return (type ?? document.type) === document.type && (world ?? document.world) === document.world;
}

/** `groups`: of these alone. */
async function* expectedItems(
  { derived, index, stored, scope }: ComparedDocuments,
  groups?: ReadonlySet<string>,
): Items {
  const inspection = derived.inspect();
  for (let after = 0; ; ) {
    const rows = inspection.rowsAfter(after, ROWS_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.key;
    yield rows.flatMap(({ type, key }) =>
      worldsOfKey(key).flatMap((world) => {
        const group = groupOf(type, world);
        if (!isInScope(scope, { type, world }) || groups?.has(group) === false) return [];
        const document = { type, world, key, position: derived.position() };
        const sum = stored.sumOf(index.present(document, inspection.world(world)));
        return sum === undefined ? [] : [{ group, name: nameOf(inspection, key), content: sum }];
      }),
    );
  }
}

async function* storedItems(
  { derived, stored, scope }: ComparedDocuments,
  groups?: ReadonlySet<string>,
): Items {
  const inspection = derived.inspect();
  for (const { uid: type } of derived.registry().contentTypes.values()) {
    for (const world of WORLDS) {
      const group = groupOf(type, world);
      if (!isInScope(scope, { type, world }) || groups?.has(group) === false) continue;
      for (let after = 0; ; ) {
        const sums = await stored.sumsAfter(type, world, after, SUMS_AT_ONCE);
        const last = sums.at(-1);
        if (last === undefined) break;
        after = last.key;
        yield sums.map(({ key, sum }) => ({ group, name: nameOf(inspection, key), content: sum }));
      }
    }
  }
}

/** Begins with the row's key. */
function nameOf(inspection: GraphInspection, key: number): string {
  const { documentId, locale } = inspection.nameOf(key) ?? UNKNOWN_DOCUMENT;
  return [key, documentId, ...(locale === null ? [] : [locale])].join(' ');
}

/** With what answers are made of, and the digest of the whole. */
async function tell(
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
