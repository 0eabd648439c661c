import type { Uid } from '../schema/content-type.ts';

/**
 * Returns the name of a document's stream: `<space>.<uid>-<documentId>`. Every character of the uid other than letters and digits becomes
 * `_`. Only one hyphen comes before the documentId, because KurrentDB cuts categories there.
 */
export function documentStream(space: string, type: Uid, documentId: string): string {
  return `${space}.${type.replaceAll(/[^A-Za-z0-9]/g, '_')}-${documentId}`;
}

/** Returns the stream of a content type's definitions. No document's stream has its category: those begin with a namespace. */
export function definitionStream(space: string, uid: string): string {
  return `${space}.content_type-${uid.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;
}
