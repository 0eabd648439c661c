import { defined } from '../../shared/defined.ts';
/** What an import says of rows, links and values that came in otherwise than the archive has them. Equal notes are counted. */
export type ImportNotes = {
  /** `what`: the type or attribute. `example`: the first that it was found at. */
  add(what: string, reason: string, example?: string, count?: number): void;
  list(): readonly ImportNote[];
};

export type ImportNote = {
  readonly what: string;
  readonly reason: string;
  readonly count: number;
  readonly example?: string;
};

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
