import { PARKED_LIMIT } from '../../../shared/read-index/index-progress.ts';
import type { World } from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { ReaderContext } from '../read/graph-reader.ts';
import { worldNumber } from '../store/row-keys.ts';
import { AFTER_ALL_CHANGES } from './lost-documents.ts';
import type { StaleRows } from './stale-rows.ts';

/** Number of documents. Documents that the index has refused may be missing, or may be there although their row was deleted. */
export type DocumentCount = { readonly least: number; readonly most: number };

const EVERY_MARK = { since: 0, position: AFTER_ALL_CHANGES };

/** Returns how many documents an index has that shows every change of its type; undefined if some document is stale. */
export function countedDocuments(
  { schema, existing }: Pick<ReaderContext, 'schema' | 'existing'>,
  stale: Pick<StaleRows, 'oldest' | 'hasMarks' | 'hasParked' | 'parked'>,
  [type, world]: readonly [type: Uid, world: World],
): DocumentCount | undefined {
  const view = schema.findType(type);
  // The first look is quick. The second one reads the marks of all other types.
  if (view === undefined || stale.oldest('backlog') !== undefined || stale.hasMarks([type], EVERY_MARK))
    return undefined;
  const rows = existing.countIn(view.number, worldNumber(world));
  const parked = stale.hasParked() ? stale.parked() : [];
  // The leader before may have had more of them than it could announce.
  if (parked.length >= PARKED_LIMIT) return undefined;
  const unsure = parked.filter((each) => each.type === type && each.world === world).length;
  return { least: rows - unsure, most: rows + unsure };
}
