import { valueAt } from '../../shared/map-values.ts';
import type { QueryObject } from '../query/query-string.ts';

/** Attributes to read of the rows behind a relation. */
type Branch = { isWhole: boolean; readonly fields: Set<string>; readonly branches: Map<string, Branch> };

/** A path to an attribute, and whether it ends at a relation, component or dynamic zone. */
export type PopulatedPath = { readonly path: readonly string[]; readonly isLink: boolean };

/** The `populate` option of the list endpoint that gives a hit the rows behind all these paths, and of those the attributes named. */
export function populateOption(paths: readonly PopulatedPath[]): QueryObject {
  const root = createBranch();
  for (const { path, isLink } of paths) {
    const links = isLink ? path : path.slice(0, -1);
    let here = root;
    for (const name of links) here = valueAt(here.branches, name, createBranch);
    if (isLink) here.isWhole = true;
    else here.fields.add(path.at(-1) ?? '');
  }
  return optionsOf(root.branches);
}

function createBranch(): Branch {
  return { isWhole: false, fields: new Set(), branches: new Map() };
}

function optionsOf(branches: ReadonlyMap<string, Branch>): QueryObject {
  return Object.fromEntries(
    [...branches].map(([name, { isWhole, fields, branches: inner }]) => {
      if (isWhole && inner.size === 0) return [name, 'true'];
      const populate = inner.size === 0 ? {} : { populate: optionsOf(inner) };
      // A component has no documentId.
      return [name, isWhole ? populate : { fields: fields.size === 0 ? ['id'] : [...fields], ...populate }];
    }),
  );
}
