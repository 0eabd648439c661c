import type { Model, ScalarType } from '../../../schema/content-type.ts';
import { isContentType, queryableScalars } from '../../../schema/system-attributes.ts';
import { DOCUMENT_PUBLISHED_FIELD, PUBLICATION_STATE_FIELD } from '../../bool-query.ts';

/** Returns the type of each field that rows of `model` have in the index. Private attributes are not included. */
export function columnTypes(model: Model): ReadonlyMap<string, ScalarType> {
  const types = new Map<string, ScalarType>();
  for (const [field, attribute] of queryableScalars(model)) types.set(field, attribute.type);
  if (isContentType(model)) {
    types.set(PUBLICATION_STATE_FIELD, 'string');
    types.set(DOCUMENT_PUBLISHED_FIELD, 'boolean');
  }
  return types;
}
