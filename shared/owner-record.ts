import * as z from 'zod';

/** Which log writes to a place outside it: its identity, and the last claim of its lead under which it did. */
export type OwnerRecord = { readonly log: string; readonly claim: string };

/** The owners of a place by their spaces. */
export type Owners = { readonly [space: string]: OwnerRecord };

/** Where that is noted. */
export type OwnerStore = {
  /** Empty: nothing was noted yet. */
  read(): Promise<Owners>;
  write(owners: Owners): Promise<void>;
};

const FORM = z.object({
  owners: z.record(z.string(), z.object({ log: z.string(), claim: z.string() })),
  inode: z.string().optional(),
});

export function presentOwners(owners: Owners, inode?: string): string {
  return JSON.stringify({ owners, inode });
}

/** Throws a sentence for a text that is no such record. */
export function parseOwners(text: string, where: string): z.infer<typeof FORM> {
  try {
    return FORM.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `${where} does not say which log writes there: remove it if you know that only this one does`,
    );
  }
}
