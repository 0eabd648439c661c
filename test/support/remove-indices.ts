/** Removes every index of a namespace, so that a test leaves nothing behind on a shared Elasticsearch. */
export async function removeIndices(url: string, space: string): Promise<void> {
  const found = await fetch(`${url}/${space}-*?filter_path=*.aliases&expand_wildcards=all`);
  const names = Object.keys((await found.json()) as object);
  if (names.length > 0) await fetch(`${url}/${names.join(',')}`, { method: 'DELETE' });
}
