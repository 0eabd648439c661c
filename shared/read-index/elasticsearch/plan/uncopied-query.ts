import { remembered } from '../../../remembered.ts';
import {
  type DocumentLayout,
  hasCopiedLists,
  type Place,
  rowsBehind,
  uncopiedField,
} from '../layout/document-layout.ts';
import type { Dsl } from './dsl.ts';

/** Returns the DSL of the documents that lack copies in some list. */
export const uncopiedQuery: (layout: DocumentLayout) => Dsl = remembered(({ root }: DocumentLayout): Dsl => {
  const should = uncopiedBelow(root);
  return should.length === 0 ? { match_none: {} } : { bool: { should, minimum_should_match: 1 } };
});

function uncopiedBelow(place: Place): readonly Dsl[] {
  const here: readonly Dsl[] = hasCopiedLists(place) ? [{ exists: { field: uncopiedField(place) } }] : [];
  const below = [...place.steps.values()].flatMap((step): readonly Dsl[] => {
    // Dynamic zones have no copies.
    const rows = rowsBehind(step);
    const inside = rows === undefined ? [] : uncopiedBelow(rows.place);
    return rows?.list === true ? inside.map((query) => within(rows.objectField, query)) : inside;
  });
  return [...here, ...below];
}

function within(path: string, query: Dsl): Dsl {
  return { nested: { path, query, score_mode: 'none' } };
}
