import type { IndexedRow } from '../../../shared/read-index/read-index.ts';
import type { SqlRow } from '../store/graph-database.ts';
import { parsedSource, sourceText } from '../store/graph-row.ts';
import type { PublicationFacts, Values } from '../store/present-row.ts';
import type { TypeView } from '../store/type-view.ts';

/** Returns a stored row, as ROW_COLUMNS select it, in the form of the read index. */
export function indexedRow({ presenter }: TypeView, row: SqlRow, publication: PublicationFacts): IndexedRow {
  const components = row[5] === null ? {} : (JSON.parse(row[5] as string) as Values);
  return {
    source: Buffer.from(presenter.shown(sourceText(row))),
    fields: presenter.fieldsOfSource(parsedSource(row), publication),
    components: presenter.components(components),
  };
}
