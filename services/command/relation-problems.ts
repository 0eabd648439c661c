import type { RequestError } from '../../shared/request-error.ts';
import type { RelationAttribute } from '../../shared/schema/content-type.ts';
import { type BodyProblem, INVALID_RELATIONS, validationError } from './problem.ts';
import type { RelationScope } from './relation-scope.ts';
import type { RelationConnection } from './resolve-relation.ts';

/**
 * Returns the problem of an entry's relations as a whole, if there is one; its path is that of the body. Strapi looks the references up
 * type by type, and stops at the first type with a wrong one. It fails on references without an id before that.
 */
export function relationProblems({ faults, references }: RelationScope): BodyProblem[] {
  const [fault] = faults;
  if (fault !== undefined) return [{ path: '', message: fault }];
  const invalid = [{ path: '', message: INVALID_RELATIONS }];
  if ([...references.values()].some(({ unreadable }) => unreadable === 'by-strapi')) return invalid;
  for (const [type, { unreadable, missing }] of references) {
    if (unreadable !== null) return invalid;
    if (missing.size === 0) continue;
    const message = `${missing.size} relation(s) of type ${type} associated with this entity do not exist`;
    return [{ path: '', message }];
  }
  return [];
}

/** Creates a 400 for a slot next to a target that is not linked, with both rows' numeric ids (case `write.relations-002`). */
export function notLinkedError(
  { finder, defaultLocale, locale }: RelationScope,
  { target: type }: RelationAttribute,
): (connection: RelationConnection) => RequestError {
  return ({ target, place }) => {
    const neighbour = 'documentId' in place ? place : target;
    const id = finder.rowId(type, neighbour);
    const position = JSON.stringify({ [place.at]: id, locale: neighbour.locale ?? locale ?? defaultLocale });
    return validationError(
      `There was a problem connecting relation with id ${finder.rowId(type, target)} at position ${position}. The relation with id ${id} needs to be connected first.`,
    );
  };
}
