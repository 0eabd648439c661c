import { remembered } from '../remembered.ts';
import type { ContentType, ScalarAttribute, ScalarType, SynonymGroups, Uid } from '../schema/content-type.ts';
import { usesOf } from '../schema/scalar-uses.ts';
import { contentTypeOf, type SchemaRegistry } from '../schema/schema-registry.ts';
import { SEARCH_OF_ATTRIBUTE, searchOptionsOf } from '../schema/search-options.ts';
import { throughAttribute, throughPaths } from '../schema/search-through.ts';
import type { WordKind } from './match-word.ts';

/** A text that is searched. */
export type SearchField = {
  /** Name in requests: the attribute, after the relations and components on the path to it. */
  readonly name: string;
  readonly path: readonly string[];
  readonly attribute: string;
  readonly type: ScalarType;
  readonly weight: number;
  readonly kind: WordKind;
};

export type SearchSettings = {
  readonly fields: readonly SearchField[];
  /** Locale whose language is used for a type without locales. */
  readonly locale: string;
  /** Groups of synonyms by locale; `*` is every locale. */
  readonly synonyms: readonly SynonymGroups[];
  /** True: words are found by their parts in every language. False: in none. Undefined: in languages that write words together. */
  readonly compounds: boolean | undefined;
};

/** Returns the result of `searchSettingsOf`, and the texts of related rows and components that the type names in `through`. */
export function searchOf(registry: SchemaRegistry, uid: Uid): SearchSettings {
  return searchesOf(registry)(contentTypeOf(registry, uid));
}

const searchesOf = remembered((registry: SchemaRegistry) =>
  remembered((type: ContentType): SearchSettings => {
    const own = searchSettingsOf(type);
    const through = throughPaths(type).flatMap((name) => throughField(registry, type, name));
    return through.length === 0 ? own : { ...own, fields: [...own.fields, ...through] };
  }),
);

/** Weight of a related row's text. It says less about a row than the row's own text. */
const THROUGH_WEIGHT = 1;

function throughField(registry: SchemaRegistry, type: ContentType, name: string): SearchField[] {
  const end = throughAttribute(registry, type, name);
  const path = name.split('.').slice(0, -1);
  const fields = end === undefined ? [] : ownField(end);
  return fields.map((field) => ({ ...field, name, path, weight: THROUGH_WEIGHT }));
}

/** Returns the texts that are searched in rows of a content type: the public ones, as `pluginOptions.varve.search` configures them. */
export const searchSettingsOf = remembered((type: ContentType): SearchSettings => {
  const search = searchOptionsOf(type);
  const attributes = [...type.attributes.values()];
  return {
    fields: attributes.flatMap((attribute) =>
      attribute.kind === 'scalar' && !attribute.private ? ownField(attribute) : [],
    ),
    locale: search?.locale ?? 'en',
    synonyms: [search?.synonyms, type.synonyms].filter((groups) => groups !== undefined),
    compounds: search?.compounds,
  };
});

function ownField({ name, type, varve, searchable }: ScalarAttribute): SearchField[] {
  const search = SEARCH_OF_ATTRIBUTE.safeParse(varve ?? {}).data?.search;
  const weight = search?.weight ?? usesOf(type).searchWeight;
  if (weight === null || search?.as === 'none') return [];
  // Attributes that `_q` must not search are searched only if the schema says so.
  if (!searchable && search === undefined) return [];
  const textKind = search?.typoTolerance === false ? 'spelled' : 'text';
  const kind = search?.as === 'keyword' ? 'keyword' : textKind;
  return [{ name, path: [], attribute: name, type, weight, kind }];
}
