import type { ParkedState } from '../../../shared/read-index/index-progress.ts';
import { WORLDS } from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { GraphDatabase, SqlRow } from '../store/graph-database.ts';
import { type WorldNumber, worldNumber } from '../store/row-keys.ts';

/** A document that the index refused, with its position and the reason. */
export type ParkedDocument = ParkedState & {
  readonly documentId: string;
  readonly locale: string | null;
};

const PARKED = `SELECT p.world, p.key, e.type, e.document_id, e.locale, p.position, p.reason, p.hidden
  FROM parked p JOIN entries e ON e.id = p.key / 4`;
const PARKED_ALL = `${PARKED} ORDER BY p.position, p.key`;
const PARKED_OF = `SELECT p.world, p.key, e.type, e.document_id, e.locale, p.position, p.reason, p.hidden
  FROM entries e JOIN parked p ON p.world IN (0, 1) AND p.key BETWEEN e.id * 4 AND e.id * 4 + 3
  WHERE e.document_id = ? ORDER BY p.world, p.key`;
const PARKED_AT = `${PARKED} WHERE p.world = ? AND p.key = ?`;

/** Returns the reads of refused documents. All include hidden documents until they are written. */
export function parkedRows(db: GraphDatabase, typeOf: (number: number) => Uid) {
  const read = (row: SqlRow) => readParked(row, typeOf);
  return {
    parked: (): readonly ParkedDocument[] => db.all(PARKED_ALL).map(read),
    parkedAt({ world, key }: Pick<ParkedState, 'world' | 'key'>): ParkedDocument | undefined {
      const row = db.get(PARKED_AT, worldNumber(world), key);
      return row && read(row);
    },
    /** Returns the parked rows with a documentId, whatever their type. */
    parkedOf: (documentId: string): readonly ParkedDocument[] =>
      hasParked(db) ? db.all(PARKED_OF, documentId).map(read) : [],
  };
}

function readParked(row: SqlRow, typeOf: (number: number) => Uid): ParkedDocument {
  const [world, key, type, documentId, locale, position, reason, hidden] = row;
  return {
    world: WORLDS[world as WorldNumber],
    key: key as number,
    type: typeOf(type as number),
    documentId: String(documentId),
    locale: locale === '' ? null : String(locale),
    position: BigInt(position as number),
    reason: String(reason),
    isHidden: hidden === 1,
  };
}

/** Returns whether the index refuses any document. */
export function hasParked(db: GraphDatabase): boolean {
  return db.get('SELECT 1 FROM parked LIMIT 1') !== undefined;
}
