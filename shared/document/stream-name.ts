import type { Uid } from '../schema/content-type.ts';

/**
 * The stream of a document: `<space>.<uid, every other character than letters and digits as _>-<documentId>`
 * (architecture.md section 3). There is one hyphen before the documentId only: KurrentDB cuts categories there.
 */
export function documentStream(space: string, type: Uid, documentId: string): string {
  return `${space}.${type.replaceAll(/[^A-Za-z0-9]/g, '_')}-${documentId}`;
}
