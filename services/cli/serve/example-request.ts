import type { ContentType } from '../../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/** Names of attributes by which people find entries, best first. */
const TELLING = ['name', 'title', 'label'];

type Candidate = { readonly type: ContentType; readonly path: readonly string[]; readonly field: string };

/**
 * Finds a request for people to try: a list with a filter through relations that returns some content. It asks the server at `base`,
 * unless that is empty. Returns the plain list of some content type if nothing is related; undefined without content types.
 */
export async function findExampleRequest(
  base: string,
  registry: SchemaRegistry,
  isEmpty: boolean,
): Promise<string | undefined> {
  const types = [...registry.contentTypes.values()].filter(
    (type) => !type.builtIn && type.kind === 'collectionType',
  );
  const candidates = isEmpty ? [] : types.flatMap((type) => candidatesOf(registry, type));
  candidates.sort((a, b) => b.path.length - a.path.length);
  for (const candidate of candidates.slice(0, 50)) {
    const value = await someValue(base, candidate);
    if (value !== undefined)
      return `${base}/api/${candidate.type.pluralName}?${filterKey(candidate)}=${value}`;
  }
  return types[0] === undefined ? undefined : `${base}/api/${types[0].pluralName}`;
}

/** Returns paths of one or two to-one relations that end at such an attribute. */
function candidatesOf(registry: SchemaRegistry, type: ContentType): readonly Candidate[] {
  return toOneRelations(registry, type).flatMap(({ name, target }) => [
    ...tellingFields(target).map((field) => ({ type, path: [name], field })),
    ...toOneRelations(registry, target).flatMap((next) =>
      tellingFields(next.target).map((field) => ({ type, path: [name, next.name], field })),
    ),
  ]);
}

function toOneRelations(registry: SchemaRegistry, type: ContentType) {
  return [...type.attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'relation' || attribute.toMany || attribute.private) return [];
    const target = contentTypeOf(registry, attribute.target);
    return target.builtIn || target === type ? [] : [{ name: attribute.name, target }];
  });
}

function tellingFields(type: ContentType): readonly string[] {
  return TELLING.filter((name) => {
    const attribute = type.attributes.get(name);
    return attribute?.kind === 'scalar' && attribute.type === 'string' && !attribute.private;
  });
}

function filterKey({ path, field }: Candidate): string {
  return `filters${[...path, field].map((key) => `[${key}]`).join('')}`;
}

/** Returns the value of some entry at the end of the path, encoded for a URL in single quotes. */
async function someValue(base: string, candidate: Candidate): Promise<string | undefined> {
  const { type, path, field } = candidate;
  const query = `${filterKey(candidate)}[$notNull]=true&populate=${path.join('.')}&pagination[limit]=1`;
  const answer = await fetch(`${base}/api/${type.pluralName}?${query}`);
  if (!answer.ok) return undefined;
  const body = (await answer.json()) as { data: readonly unknown[] };
  const value = [...path, field].reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | null)?.[key],
    body.data[0],
  );
  return typeof value === 'string' ? encodeURIComponent(value).replaceAll("'", '%27') : undefined;
}
