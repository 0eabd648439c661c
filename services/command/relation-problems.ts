import type { RelationAttribute } from '../../shared/schema/content-type.ts';
import { type BodyProblem, validationError } from './problem.ts';
import type { RelationConnection, RelationScope } from './resolve-relation.ts';

/**
 * Returns the problem of all relations of an entry together, if there is one. It concerns the whole body, as in Strapi.
 */
export function relationProblems({ faults, missing }: RelationScope): BodyProblem[] {
  const [fault] = faults;
  if (fault !== undefined) return [{ path: '', message: fault }];
  for (const [type, ids] of missing) {
    return [
      {
        path: '',
        message: `${ids.size} relation(s) of type ${type} associated with this entity do not exist`,
      },
    ];
  }
  return [];
}

/** Creates a 400 for a slot next to a target that is not linked, with both rows' numeric ids (case `write.relations-002`). */
export function notLinkedError(
  { finder, defaultLocale, locale }: RelationScope,
  { target: type }: RelationAttribute,
): (connection: RelationConnection) => Error {
  return ({ target, place }) => {
    const neighbour = 'documentId' in place ? place : target;
    const id = finder.rowId(type, neighbour);
    const position = JSON.stringify({ [place.at]: id, locale: neighbour.locale ?? locale ?? defaultLocale });
    return validationError(
      `There was a problem connecting relation with id ${finder.rowId(type, target)} at position ${position}. The relation with id ${id} needs to be connected first.`,
    );
  };
}
