import { defined } from '../../shared/defined.ts';

/** Report about rows, links and values that differ from the archive. Equal notes are counted. */
export type ImportNotes = {
  /** `what`: the type or attribute. `example`: the first occurrence. */
  add(what: string, reason: string, example?: string, count?: number): void;
  /** Notes a row that is not stored. */
  omitRow(type: string, reason: string, id?: number): void;
  /** Returns how many rows of a type are not stored, by reason. */
  omittedRows(type: string): { readonly [reason: string]: number };
  list(): readonly ImportNote[];
};

export type ImportNote = {
  readonly what: string;
  readonly reason: string;
  readonly count: number;
  readonly example?: string;
};

/** Creates an empty report. */
export function createImportNotes(): ImportNotes {
  const notes = new Map<string, ImportNote>();
  const omitted = new Map<string, Record<string, number>>();
  const add: ImportNotes['add'] = (what, reason, example, count = 1) => {
    const key = `${what}\n${reason}`;
    const known = notes.get(key);
    if (known !== undefined) notes.set(key, { ...known, count: known.count + count });
    else notes.set(key, { what, reason, count, ...defined({ example }) });
  };
  return {
    add,
    omitRow(type, reason, id) {
      const reasons = omitted.get(type) ?? {};
      omitted.set(type, { ...reasons, [reason]: (reasons[reason] ?? 0) + 1 });
      add(type, `omitted: ${reason}`, id === undefined ? undefined : `row ${id}`);
    },
    omittedRows: (type) => omitted.get(type) ?? {},
    list: () => [...notes.values()],
  };
}
