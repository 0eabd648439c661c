import type { World } from '../../shared/read-index/read-index.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { resolveLocale } from '../query/locale.ts';
import type { Problems } from '../query/problems.ts';
import type { QueryObject } from '../query/query-string.ts';
import { resolveStatus } from '../query/status.ts';

/** Returns the locale of the versions that a query asks for; undefined: all. A type without locales has versions of one entry. */
export function localeIn(
  query: QueryObject,
  { localized }: ContentType,
  problems: Problems,
): string | undefined {
  const choice = resolveLocale(query['locale'], problems, false);
  const [locale, ...others] = choice.kind === 'any-of' ? choice.locales : [];
  if (others.length > 0)
    problems.push({
      phase: 'parameter',
      message: "Invalid parameter at 'locale'. Expected one locale, or none for all",
      param: 'locale',
      found: query['locale'],
      accepted: 'one locale such as en, or * for all',
    });
  return localized ? locale : undefined;
}

/** Returns the world of the versions that a query asks for; undefined: all that the caller may see. */
export function statusIn(
  query: QueryObject,
  { mayReadDrafts }: { readonly mayReadDrafts: boolean },
  problems: Problems,
): World | undefined {
  const value = query['status'];
  return value === undefined ? undefined : resolveStatus(value, problems, { mayReadDrafts, lenient: false });
}

/** Refuses a cursor. `hint`: what there is instead. */
export function refuseCursor(problems: Problems, found: string, hint: string): void {
  problems.push({
    phase: 'pages',
    code: 'invalid-pagination',
    message: `Invalid parameter at 'pagination'. ${hint}`,
    param: 'pagination',
    found,
    accepted: 'page and pageSize, or start and limit',
  });
}
