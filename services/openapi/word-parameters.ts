import type { QueryModel } from '../query/query-model.ts';
import { queryParameter } from './document-parts.ts';
import type { Parameter } from './openapi-types.ts';

/** Parameters of a search by words: docs/search.md. */
export function wordParameters(model: QueryModel): readonly Parameter[] {
  const texts = [...model.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' && attribute.type === 'string' && attribute.name !== 'documentId'
      ? [attribute.name]
      : [],
  );
  const [first = 'name'] = texts;
  const tag = { type: 'string', maxLength: 100 };
  return [
    queryParameter(
      'search',
      'Entries whose texts have these words, with typos and their stems; the last word may be the beginning of one. Without `sort` the best come first.',
      { type: 'string', maxLength: 512 },
    ),
    queryParameter('typoTolerance', '`false` allows no typos. Words still match by their stems.', {
      type: 'boolean',
    }),
    queryParameter(
      'facets',
      'Paths of attributes, with commas. `meta.facets` has the number of entries found for each value. Other forms are `facets[path][limit]`, `[order]`, `[search]` and `[ranges]`.',
    ),
    queryParameter(
      'highlight',
      `Attributes whose matches \`meta.highlights\` marks, with commas, such as \`${first}\`; \`highlight[${first}][snippet]=20\` gives 20 words.`,
    ),
    queryParameter(
      'distinct',
      `A short text of the entry itself, such as \`${first}\`. The list has the first entry for each of its values, and \`meta.groups\` their numbers. Pages count values. \`distinct[${first}][limit]=3\` gives up to 3 entries each.`,
    ),
    queryParameter('highlightPreTag', 'Text before each match; default `<mark>`.', tag),
    queryParameter('highlightPostTag', 'Text after each match; default `</mark>`.', tag),
  ];
}
