import { type ContentType, FILE_TYPE } from './content-type.ts';
import { routeNameProblem } from './reserved-names.ts';
import type { ReportProblem } from './schema-problem.ts';
import { routeNameOf } from './schema-registry.ts';

/** A content type, with the reporter of its file. */
export type NamedType = { readonly type: ContentType; readonly report: ReportProblem };

/**
 * Reports names that two types share: uids, singular names (which name a type in import files) and paths below `/api`. Paths are compared
 * without case, like requests. Files are served under `/api/upload`, so they take no name.
 */
export function checkNames(types: readonly NamedType[]): void {
  const taken = new Map<string, ContentType>();
  const builtInFirst = [...types].sort((a, b) => Number(b.type.builtIn) - Number(a.type.builtIn));
  for (const { type, report } of builtInFirst) {
    if (type.uid === FILE_TYPE) continue;
    const claim = (name: string, key: 'singularName' | 'pluralName') => {
      const owner = taken.get(name.toLowerCase());
      if (owner !== undefined) report(['info', key], `${name} is already used by ${owner.uid}`);
      else taken.set(name.toLowerCase(), type);
    };
    claim(type.uid, 'singularName');
    claim(`singular name ${type.singularName}`, 'singularName');
    const pathKey = type.kind === 'collectionType' ? 'pluralName' : 'singularName';
    claim(`path /api/${routeNameOf(type)}`, pathKey);
    const problem = type.builtIn ? undefined : routeNameProblem(routeNameOf(type));
    if (problem !== undefined) report(['info', pathKey], problem);
  }
}
