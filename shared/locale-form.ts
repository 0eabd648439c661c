const MAX_LENGTH = 35;
/** Language, then script, region and variants. */
const BCP_47 = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

/** Returns Strapi's message for a text without the form of a locale; undefined for a locale such as `en` or `zh-Hans`. */
export function localeProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `Locale exceeds maximum length of ${MAX_LENGTH} characters.`;
  return BCP_47.test(text) ? undefined : 'Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).';
}
