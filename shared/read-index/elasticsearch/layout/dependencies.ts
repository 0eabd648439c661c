import type { Dependency, Hop } from '../../document-index.ts';
import type { DocumentLayout, Place } from './document-layout.ts';

/**
 * Returns the other rows that a type's documents show. Some rows are copied into the documents. Of others the documents have only the keys,
 * because their own rows or the copies link to them.
 */
export function dependenciesOf(layout: DocumentLayout): readonly Dependency[] {
  return dependenciesBelow(layout, layout.root, { path: [], names: [] });
}

/** Way from the root to a node. `names` also has the components on it. */
type Way = { readonly path: readonly Hop[]; readonly names: readonly string[] };

function dependenciesBelow(layout: DocumentLayout, place: Place, { path, names }: Way): Dependency[] {
  const found: Dependency[] = [];
  for (const step of place.steps.values()) {
    switch (step.kind) {
      case 'component':
        found.push(...dependenciesBelow(layout, step.place, { path, names: [...names, step.attribute] }));
        break;
      case 'zone':
        for (const below of step.components.values())
          found.push(...dependenciesBelow(layout, below, { path, names: [...names, step.attribute] }));
        break;
      case 'relation': {
        const here = [...path, { rowSet: place.rowSet, attribute: step.attribute }];
        if (step.linkField === undefined && step.embedded === undefined) break;
        const way = { path: here, names: [...names, step.attribute] };
        const { embedded } = step;
        if (embedded === undefined) found.push({ type: layout.type, path: here, keysOnly: true, shows: [] });
        else {
          const shows = shownColumns(layout, embedded.place, way.names);
          found.push({ type: layout.type, path: here, keysOnly: false, shows });
          found.push(...dependenciesBelow(layout, embedded.place, way));
        }
      }
    }
  }
  return found;
}

/** Returns the columns and component attributes of a copied row that a document shows, in its copy or among its words. */
function shownColumns({ words }: DocumentLayout, place: Place, names: readonly string[]): readonly string[] {
  const components = [...place.steps.values()].filter(({ kind }) => kind !== 'relation');
  const here = names.join('.');
  const texts = words.fields.filter(({ path }) => path.join('.') === here);
  return [
    ...place.scalars.keys(),
    ...components.map(({ attribute }) => attribute),
    ...texts.map(({ attribute }) => attribute),
  ];
}
