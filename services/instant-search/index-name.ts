import { RequestError } from '../../shared/request-error.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Parts of the name of an index: `restaurants/fr:name:desc`. */
export type NamedIndex = {
  readonly type: ContentType;
  readonly locale: string | undefined;
  /** Sort order in the form of the list endpoint's `sort`. */
  readonly sort: string | undefined;
};

/**
 * Looks up the type whose plural an index name begins with. An unknown name and one of a type that the caller may not find get the same
 * 404.
 */
export function readIndexName(
  name: string,
  registry: SchemaRegistry,
  mayFind: (type: string) => boolean = () => true,
): NamedIndex {
  const [base, sort] = cut(name, ':');
  const [plural, locale] = cut(base, '/');
  const type = [...registry.contentTypes.values()].find(
    (each) =>
      each.kind === 'collectionType' && !each.builtIn && each.pluralName === plural && mayFind(each.uid),
  );
  if (type !== undefined) return { type, locale, sort: sort === undefined ? undefined : checkedSort(sort) };
  throw new RequestError('not-found', `Index ${name} does not exist`, {
    found: name,
    accepted: 'the plural of a content type such as restaurants, restaurants/fr or restaurants:name:asc',
  });
}

const SORT = /^[^:,]+(?::[^:,]+)?(?:,[^:,]+(?::[^:,]+)?)*$/;

function checkedSort(sort: string): string {
  if (SORT.test(sort)) return sort;
  throw new RequestError('invalid-query', `Invalid order ${sort} in the name of an index`, {
    param: 'indexName',
    found: sort,
    accepted: 'an attribute and asc or desc, such as name:asc, or several with commas',
  });
}

function cut(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
