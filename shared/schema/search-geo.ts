import type { ContentType, Model } from './content-type.ts';
import { attributeNameProblem } from './reserved-names.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { searchOptionsOf } from './search-options.ts';
import { isContentType, queryableScalars } from './system-attributes.ts';

/** Attributes with the latitude and the longitude of an entry, in degrees. */
export type GeoColumns = { readonly lat: string; readonly lng: string };

/** Returns the attributes of each name that a type has in `pluginOptions.varve.search.geo`. Omits names whose attributes are not usable. */
export function geoColumns(model: Model): ReadonlyMap<string, GeoColumns> {
  if (!isContentType(model)) return new Map();
  const named = Object.entries(searchOptionsOf(model)?.geo ?? {});
  return new Map(
    named.filter(
      ([name, { lat, lng }]) =>
        nameProblem(model, name) === undefined && isNumber(model, lat) && isNumber(model, lng),
    ),
  );
}

/** Reports names and attributes in `pluginOptions.varve.search.geo` that no request can use. */
export function checkGeo(type: ContentType, report: ReportProblem): void {
  for (const [name, columns] of Object.entries(searchOptionsOf(type)?.geo ?? {})) {
    const reportHere = below(report, 'pluginOptions', 'varve', 'search', 'geo', name);
    const problem = nameProblem(type, name);
    if (problem !== undefined) reportHere([], problem);
    for (const key of ['lat', 'lng'] as const)
      if (!isNumber(type, columns[key]))
        reportHere([key], `${columns[key]} is not a public integer, decimal or float of the type`);
  }
}

function nameProblem(type: ContentType, name: string): string | undefined {
  return type.attributes.has(name)
    ? `${name} is already an attribute of the type`
    : attributeNameProblem(name, 'content type');
}

function isNumber(type: ContentType, name: string): boolean {
  const found = queryableScalars(type).get(name);
  if (found === undefined || name === 'id') return false;
  return found.type === 'integer' || found.type === 'decimal' || found.type === 'float';
}
