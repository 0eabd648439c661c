import { localeProblem } from '../../shared/locale-form.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { validationError } from './problem.ts';

/**
 * Parses the `status` of a write; absent means published (SEMANTICS section 13). Throws 400 for any other value than
 * `published` and `draft`, including the empty text.
 */
export function parseWriteStatus(status: unknown): 'draft' | 'published' {
  if (status === undefined) return 'published';
  if (status === 'draft' || status === 'published') return status;
  const received =
    typeof status === 'object' && status !== null ? JSON.stringify(status) : String(status ?? '');
  throw validationError(
    `Invalid parameter at 'status'. Expected 'published' or 'draft', received: ${received}`,
  );
}

/**
 * Parses the `locale` of a write. Absent, empty and null mean the default locale. Returns null for types without i18n, which ignore a
 * well-formed locale. `*` is allowed only with `every` (SEMANTICS sections 5 and 13). Throws 400.
 */
export function parseWriteLocale(
  type: ContentType,
  locale: unknown,
  defaultLocale: string,
  every: 'every-allowed' | 'one-only',
): string | null {
  // A list was checked with the query. It has no effect on a type without locales.
  if (!type.localized && Array.isArray(locale)) return null;
  const given = wellFormedLocale(locale);
  if (!type.localized) return null;
  if (given !== '*') return given ?? defaultLocale;
  if (every === 'every-allowed') return '*';
  throw validationError('Invalid locale param * provided. Document locales must be strings.');
}

function wellFormedLocale(locale: unknown): string | undefined {
  if (locale === undefined || locale === null || locale === '') return undefined;
  if (locale === '*') return locale;
  if (Array.isArray(locale)) {
    throw validationError(
      `Invalid locale param ${locale.map(String).join(',')} provided. Document locales must be strings.`,
    );
  }
  const problem =
    typeof locale === 'string'
      ? localeProblem(locale)
      : `Expected a string, array of strings, empty string, null, or undefined; received: ${typeof locale}`;
  if (problem !== undefined) throw validationError(`Invalid parameter at 'locale'. ${problem}`);
  return String(locale);
}
