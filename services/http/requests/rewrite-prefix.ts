/**
 * Implements Strapi's `rest.prefix`: paths below it are served like those below `/api`, which stays available.
 * Undefined if the two are one, so that requests cost nothing more.
 */
export function rewritePrefix(
  prefix: string,
): ((request: { readonly url?: string | undefined }) => string) | undefined {
  if (prefix === '/api') return undefined;
  const from = `${prefix.replace(/\/$/, '')}/`.toLowerCase();
  return ({ url = '/' }) =>
    url.slice(0, from.length).toLowerCase() === from ? `/api/${url.slice(from.length)}` : url;
}
