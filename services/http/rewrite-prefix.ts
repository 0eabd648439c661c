/**
 * Strapi's `rest.prefix`: what is below it is served as below `/api`, which stays as it is. Undefined where the two are one, so
 * that no request pays for it.
 */
export function rewritePrefix(
  prefix: string,
): ((request: { readonly url?: string | undefined }) => string) | undefined {
  if (prefix === '/api') return undefined;
  const from = `${prefix.replace(/\/$/, '')}/`.toLowerCase();
  return ({ url = '/' }) =>
    url.slice(0, from.length).toLowerCase() === from ? `/api/${url.slice(from.length)}` : url;
}
