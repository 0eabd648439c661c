import type { QueryModel } from '../query/query-model.ts';
import type { Parameter } from './openapi-types.ts';

/** Parameters of a search by words: docs/search.md. */
export function wordParameters(model: QueryModel): readonly Parameter[] {
  const texts = [...model.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' && attribute.type === 'string' && attribute.name !== 'documentId'
      ? [attribute.name]
      : [],
  );
  const [first = 'name'] = texts;
  return [
    {
      ...query('search'),
      description:
        'Entries whose texts have these words, with typos and their stems; the last word may be the beginning of one. Without `sort` the best come first.',
      schema: { type: 'string', maxLength: 512 },
    },
    {
      ...query('typoTolerance'),
      description: '`false` allows no typos. Words still match by their stems.',
      schema: { type: 'boolean' },
    },
    {
      ...query('facets'),
      description:
        'Paths of attributes, with commas. `meta.facets` has the number of entries found for each value. Other forms are `facets[path][limit]`, `[search]` and `[ranges]`.',
      schema: { type: 'string' },
    },
    {
      ...query('highlight'),
      description: `Attributes whose matches \`meta.highlights\` marks, with commas, such as \`${first}\`; \`highlight[${first}][snippet]=20\` gives 20 words.`,
      schema: { type: 'string' },
    },
    {
      ...query('highlightPreTag'),
      description: 'Text before each match; default `<mark>`.',
      schema: { type: 'string', maxLength: 100 },
    },
    {
      ...query('highlightPostTag'),
      description: 'Text after each match; default `</mark>`.',
      schema: { type: 'string', maxLength: 100 },
    },
  ];
}

function query(name: string): Pick<Parameter, 'name' | 'in'> {
  return { name, in: 'query' };
}
