import * as z from 'zod';

/** Record of the log that writes to a store: the identity of the log, and the newest claim of its lease. */
export type OwnerRecord = { readonly log: string; readonly claim: string };

/** Owners of a store by their namespaces. */
export type Owners = { readonly [space: string]: OwnerRecord };

/** Storage of the record. */
export type OwnerStore = {
  /** Returns the record; empty if there is none yet. */
  read(): Promise<Owners>;
  write(owners: Owners): Promise<void>;
};

const FORM = z.object({
  owners: z.record(z.string(), z.object({ log: z.string(), claim: z.string() })),
  inode: z.string().optional(),
});

/** Returns a record as text for `parseOwners`. `inode` is that of the folder, if the store is one. */
export function presentOwners(owners: Owners, inode?: string): string {
  return JSON.stringify({ owners, inode });
}

/** Parses a record. Throws a message if the text is not one. */
export function parseOwners(text: string, where: string): z.infer<typeof FORM> {
  try {
    return FORM.parse(JSON.parse(text));
  } catch {
    throw new Error(`${where} does not name the log that writes there: remove it if only this one does`);
  }
}
