type Rewrite = (request: { readonly url?: string | undefined }) => string;

/**
 * Implements Strapi's `rest.prefix`, given without a slash at its end. Paths below the prefix are served like paths below `/api`, which
 * stays available. An empty prefix applies to all paths, except paths that begin with one of the server's `own` segments, such as `docs`.
 * Returns undefined if there is nothing to rewrite.
 */
export function rewritePrefix(prefix: string, own: ReadonlySet<string>): Rewrite | undefined {
  if (prefix === '/api') return undefined;
  if (prefix === '') return ({ url = '/' }) => (own.has(firstSegment(url)) ? url : `/api${url}`);
  const from = `${prefix}/`.toLowerCase();
  return ({ url = '/' }) =>
    url.slice(0, from.length).toLowerCase() === from ? `/api/${url.slice(from.length)}` : url;
}

/** Returns the first segment of a path in lower case: `docs` of `/Docs/script.js?a`. */
export function firstSegment(url: string): string {
  const [, segment = ''] = /^\/([^/?]*)/.exec(url) ?? [];
  return segment.toLowerCase();
}
