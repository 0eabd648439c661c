import type { ContentType, ScalarType } from './content-type.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { searchOptionsOf } from './search-options.ts';
import { queryableScalars } from './system-attributes.ts';

/** Returns the attribute that a type has in `pluginOptions.varve.search.distinct`; undefined if it has none. */
export function distinctAttribute(type: Pick<ContentType, 'varve'>): string | undefined {
  return searchOptionsOf(type)?.distinct;
}

/** Returns whether entries are grouped by attributes of this type. */
export function mayGroup(type: ScalarType): boolean {
  return type === 'string' || type === 'uid' || type === 'enumeration';
}

/** Reports an attribute that cannot group entries. */
export function checkDistinct(type: ContentType, report: ReportProblem): void {
  const attribute = distinctAttribute(type);
  if (attribute === undefined) return;
  const found = queryableScalars(type).get(attribute);
  if (found === undefined || !mayGroup(found.type))
    below(
      report,
      'pluginOptions',
      'varve',
      'search',
    )(['distinct'], `${attribute} is not a public string, uid or enumeration of the type`);
}
