let languages: Intl.DisplayNames | undefined;

/**
 * Returns Strapi's English name of a locale, such as `German (de)`. A code that BCP 47 does not allow, such as `de-1996-1996`, is its own
 * name.
 */
export function localeName(code: string): string {
  return `${languageName(code)} (${code})`;
}

function languageName(code: string): string {
  languages ??= new Intl.DisplayNames(['en'], { type: 'language' });
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}
