import type { Uid } from '../schema/content-type.ts';

/**
 * Returns the name of a document's stream: `<space>.<uid>-<documentId>`. Every character of the uid other than letters and digits becomes
 * `_`. Only one hyphen comes before the documentId, because KurrentDB cuts categories there.
 */
export function documentStream(space: string, type: Uid, documentId: string): string {
  return `${space}.${type.replaceAll(/[^A-Za-z0-9]/g, '_')}-${documentId}`;
}
