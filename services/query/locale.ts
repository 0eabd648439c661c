import { localeProblem } from '../../shared/locale-form.ts';
import { type BoolQuery, MATCH_ALL, MATCH_NONE } from '../../shared/read-index/bool-query.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { Problems } from './problems.ts';
import { isQueryList, isQueryObject, type QueryValue } from './query-string.ts';

/** Locales of a request: the default one if it names none. */
export type LocaleChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'all' }
  | { readonly kind: 'any-of'; readonly locales: readonly string[] };

const DEFAULT: LocaleChoice = { kind: 'default' };

/** Returns whether a text has the form of a locale, such as `en` or `zh-Hans`. */
export function hasLocaleForm(text: string): boolean {
  return localeProblem(text) === undefined;
}

/**
 * Resolves `locale` into locales (SEMANTICS section 5). It is checked on every type, and has an effect only on
 * localized types. `lenient`: a wrong value means the default locale instead of a refusal, as in Strapi without
 * `documents.strictParams`.
 */
export function resolveLocale(
  value: QueryValue | undefined,
  problems: Problems,
  lenient: boolean,
): LocaleChoice {
  const found: Problems = [];
  const choice = chosenLocale(value, found);
  if (lenient && found.length > 0) return DEFAULT;
  problems.push(...found);
  return choice;
}

/** Returns the `locale` that a request gives; undefined if it gives none. In a list only texts count, as in Strapi. */
export function givenLocale(value: QueryValue | undefined): QueryValue | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isQueryList(value)) return value;
  const texts = value.filter((item) => typeof item === 'string' && item !== '');
  return texts.length === 0 ? undefined : texts;
}

/** Refuses a list of locales for one document, even a list with one locale. */
export function refuseLocaleList(value: QueryValue | undefined, problems: Problems): void {
  const given = givenLocale(value);
  if (!isQueryList(given)) return;
  problems.push({
    phase: 'parameter',
    message: `Invalid locale param ${given.join(',')} provided. Document locales must be strings.`,
    param: 'locale',
    found: value,
    accepted: 'one locale such as en',
  });
}

function chosenLocale(given: QueryValue | undefined, problems: Problems): LocaleChoice {
  const value = givenLocale(given);
  if (value === undefined) return DEFAULT;
  if (value === '*') return { kind: 'all' };
  if (isQueryObject(value)) {
    const expected = 'a string, array of strings, empty string, null, or undefined';
    refuse(problems, `Expected ${expected}; received: object`, value);
    return DEFAULT;
  }
  const locales: string[] = [];
  const isList = isQueryList(value);
  for (const [at, locale] of (isList ? value.map(String) : [String(value)]).entries()) {
    const problem = locale === '*' ? undefined : localeProblem(locale);
    if (problem === undefined) locales.push(locale);
    else refuse(problems, problem, value, isList ? `locale[${at}]` : 'locale');
  }
  // In a list `*` is not a wildcard but a locale without rows.
  return { kind: 'any-of', locales };
}

/**
 * Returns the condition of a locale choice on the root. A condition on `locale` at the top of the filter replaces the default locale; a
 * given locale applies in addition to it.
 */
export function localeQuery(
  choice: LocaleChoice,
  type: ContentType,
  filters: QueryValue | undefined,
  defaultLocale: string,
): BoolQuery {
  if (!type.localized || choice.kind === 'all') return MATCH_ALL;
  if (choice.kind === 'default') {
    return namesLocale(filters) ? MATCH_ALL : { kind: 'term', field: 'locale', value: defaultLocale };
  }
  const [locale, ...more] = choice.locales;
  if (locale === undefined) return MATCH_NONE;
  return more.length === 0
    ? { kind: 'term', field: 'locale', value: locale }
    : { kind: 'terms', field: 'locale', values: choice.locales };
}

/** Returns whether a filter has a condition on the locale at its top. */
export function namesLocale(filters: QueryValue | undefined): boolean {
  return isQueryObject(filters) && filters['locale'] !== undefined;
}

function refuse(problems: Problems, reason: string, value: QueryValue, place = 'locale'): void {
  problems.push({
    phase: 'parameter',
    message: `Invalid parameter at '${place}'. ${reason}`,
    param: 'locale',
    found: value,
    accepted: 'a locale such as en or en-US, a list of locales, or *',
    extra: isQueryObject(value) ? { received: value } : {},
  });
}
