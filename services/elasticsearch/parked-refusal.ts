import type { ParkedDocument } from '../../projections/graph/stale/parked-rows.ts';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** Returns a function that says in a sentence why Elasticsearch does not have an entry's newest state; undefined if it has it. */
export function parkedRefusal(parked: Pick<ParkedDocuments, 'of'>) {
  return (type: Uid, documentId: string): string | undefined => {
    const rows = parked.of(type, documentId);
    return rows.length === 0
      ? undefined
      : `The write is stored, but reads do not show all of it: ${rows.map(sentence).join('; ')}`;
  };
}

/** Returns the part for one row. The whole reason may have values of other entries, so it contains only the kind of error. */
function sentence({ world, locale, reason }: ParkedDocument): string {
  const [kind] = reason.split(':');
  const version = `the ${world} version${locale === null ? '' : ` in ${locale}`}`;
  return `Elasticsearch refuses ${version} (${kind})`;
}
