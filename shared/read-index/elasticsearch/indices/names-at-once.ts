/** Limited because the URL of a request contains the names, and Elasticsearch accepts a URL of at most 4 KB. */
const NAMES_AT_ONCE = 12;

/** Yields the names of indices in lists, each for one request. */
export function* namesAtOnce(names: readonly string[], most = NAMES_AT_ONCE): Iterable<string[]> {
  for (let at = 0; at < names.length; at += most) yield names.slice(at, at + most);
}
