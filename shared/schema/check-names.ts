import { type ContentType, FILE_TYPE } from './content-type.ts';
import { routeNameProblem } from './reserved-names.ts';
import type { ReportProblem } from './schema-problem.ts';
import { routeNameOf } from './schema-registry.ts';

/**
 * Reports names that two types share: uids, singular names (which name a type in import files) and paths below `/api`. Paths are compared
 * without case, like requests. Files are served under `/api/upload`, so they take no name.
 */
export function checkNames(
  types: readonly { readonly model: ContentType; readonly report: ReportProblem }[],
): void {
  const taken = new Map<string, ContentType>();
  const builtInFirst = types.toSorted((a, b) => Number(b.model.builtIn) - Number(a.model.builtIn));
  for (const { model: type, report } of builtInFirst) {
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
