import { valueAt } from '../../../shared/map-values.ts';
import type { ChangeLog } from './change-log.ts';
import { documentKeyOf, type GraphEntry } from './graph-entry.ts';
import {
  type ExistingRows,
  rowKey,
  rowKeyIn,
  type VersionNumber,
  type WorldNumber,
  worldsOf,
} from './row-keys.ts';

/** A localized document whose set of rows in a world changed, with the keys of removed rows; some may have returned. */
type Relocalized = {
  readonly entry: GraphEntry;
  readonly world: WorldNumber;
  readonly gone: Set<number>;
};

/**
 * Creates a record of the documents whose locales a batch changes. At the end of the batch it reports the links between their rows.
 * `entriesOf`: the entries of the entry's document, in the order of their locales.
 */
export function createLocalizations(
  existing: ExistingRows,
  changes: Pick<ChangeLog, 'localization'>,
  entriesOf: (entry: GraphEntry) => readonly GraphEntry[],
) {
  const relocalized = new Map<string, Relocalized>();
  const report = ({ entry, world, gone }: Relocalized): void => {
    const { view } = entry;
    const present = entriesOf(entry)
      .map(({ id }) => rowKeyIn(world, view.draftAndPublish, id))
      .filter((row) => existing.has(row));
    for (const source of present) {
      for (const [rank, target] of present.entries()) {
        if (source !== target) changes.localization(view.uid, world, { source, target }, rank);
      }
      // The remaining rows of the document have one locale less.
      for (const target of gone) {
        if (!existing.has(target)) changes.localization(view.uid, world, { source, target }, null);
      }
    }
  };
  return {
    /** A row was added or removed, or the index gets it again. */
    note(entry: GraphEntry, version: VersionNumber): void {
      if (!entry.view.localized) return;
      const key = rowKey(entry.id, version);
      for (const world of worldsOf(version)) {
        const name = `${documentKeyOf(entry)}/${world}`;
        const noted = valueAt(relocalized, name, () => ({ entry, world, gone: new Set() }));
        if (entry.rows[version] === undefined) noted.gone.add(key);
      }
    },
    report(): void {
      for (const document of relocalized.values()) report(document);
    },
  };
}
