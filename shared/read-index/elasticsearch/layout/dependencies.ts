import type { Dependency, Hop } from '../../document-index.ts';
import type { DocumentLayout, Place } from './document-layout.ts';

/**
 * Returns the other rows that a type's documents show. Some rows are copied into the documents. Of others the documents have only the keys,
 * because their own rows or the copies link to them.
 */
export function dependenciesOf(layout: DocumentLayout): readonly Dependency[] {
  return dependenciesBelow(layout, layout.root, []);
}

function dependenciesBelow(layout: DocumentLayout, place: Place, path: readonly Hop[]): Dependency[] {
  const found: Dependency[] = [];
  for (const step of place.steps.values()) {
    switch (step.kind) {
      case 'component':
        found.push(...dependenciesBelow(layout, step.place, path));
        break;
      case 'zone':
        for (const below of step.components.values()) found.push(...dependenciesBelow(layout, below, path));
        break;
      case 'relation': {
        const here = [...path, { rowSet: place.rowSet, attribute: step.attribute }];
        if (step.linkField === undefined && step.embedded === undefined) break;
        found.push({ type: layout.type, path: here, keysOnly: step.embedded === undefined });
        if (step.embedded !== undefined) found.push(...dependenciesBelow(layout, step.embedded.place, here));
      }
    }
  }
  return found;
}
