import * as z from 'zod';

/** Which log writes to a place outside it: its identity, and the last claim of its lead under which it did. */
export type OwnerRecord = { readonly log: string; readonly claim: string };

/** Where that is noted. */
export type OwnerStore = {
  /** Undefined: nothing was noted yet. */
  read(): Promise<OwnerRecord | undefined>;
  write(owner: OwnerRecord): Promise<void>;
};

const FORM = z.object({ log: z.string(), claim: z.string(), inode: z.string().optional() });

/** Throws a sentence for a text that is no such record. */
export function parseOwner(
  text: string,
  where: string,
): OwnerRecord & { readonly inode?: string | undefined } {
  try {
    return FORM.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `${where} does not say which log writes there: remove it if you know that only this one does`,
    );
  }
}
