import * as z from 'zod';

/** Log that writes to a store outside of it: its identity, and the last claim of its lease under which it wrote. */
export type OwnerRecord = { readonly log: string; readonly claim: string };

/** Owners of a store by their namespaces. */
export type Owners = { readonly [space: string]: OwnerRecord };

/** Storage of the record. */
export type OwnerStore = {
  /** Empty: there is no record yet. */
  read(): Promise<Owners>;
  write(owners: Owners): Promise<void>;
};

const FORM = z.object({
  owners: z.record(z.string(), z.object({ log: z.string(), claim: z.string() })),
  inode: z.string().optional(),
});

/** Returns the text of a record for `parseOwners`. `inode`: of the folder, where the store is one. */
export function presentOwners(owners: Owners, inode?: string): string {
  return JSON.stringify({ owners, inode });
}

/** Throws a message for a text that is not such a record. */
export function parseOwners(text: string, where: string): z.infer<typeof FORM> {
  try {
    return FORM.parse(JSON.parse(text));
  } catch {
    throw new Error(`${where} does not name the log that writes there: remove it if only this one does`);
  }
}
