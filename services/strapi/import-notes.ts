import { defined } from '../../shared/defined.ts';

/** Report about rows, links and values that differ from the archive. Equal notes are counted. */
export type ImportNotes = {
  /** `what`: the type or attribute. `example`: the first occurrence. */
  add(what: string, reason: string, example?: string, count?: number): void;
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
  return {
    add(what, reason, example, count = 1) {
      const key = `${what}\n${reason}`;
      const known = notes.get(key);
      if (known !== undefined) notes.set(key, { ...known, count: known.count + count });
      else notes.set(key, { what, reason, count, ...defined({ example }) });
    },
    list: () => [...notes.values()],
  };
}
