import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import { anyOf } from './combine-queries.ts';
import type { Problems } from './problems.ts';
import type { QueryModel, QueryScalar } from './query-model.ts';
import type { QueryValue } from './query-string.ts';

/**
 * Resolves `_q`: rows that contain the text in a public text column of the root, in its documentId or in its id, ignoring case. Number
 * columns take part if the text is numeric. No character is a wildcard (SEMANTICS section 10).
 */
export function resolveSearchText(
  value: QueryValue | undefined,
  model: QueryModel,
  problems: Problems,
): BoolQuery {
  if (value === undefined || value === null || value === '') return MATCH_ALL;
  if (typeof value !== 'string' || value.includes('\0')) {
    problems.push({
      phase: 'parameter',
      message: 'Invalid _q parameter',
      param: '_q',
      found: value,
      accepted: 'text',
    });
    return MATCH_ALL;
  }
  const isNumeric = !Number.isNaN(Number(value));
  const text = foldText(value);
  const columns = [...model.attributes.values()].filter(
    (attribute): attribute is QueryScalar => attribute.kind === 'scalar' && isSearched(attribute, isNumeric),
  );
  return anyOf(
    columns.map(({ name }) => ({ kind: 'text', match: 'contains', field: name, value: text, fold: true })),
  );
}

function isSearched(column: QueryScalar, isNumeric: boolean): boolean {
  if (!column.searchable) return false;
  const type = fieldTypeOf(column.type);
  if (type === 'keyword' || column.name === 'id') return true;
  return isNumeric && (type === 'number' || type === 'long');
}
