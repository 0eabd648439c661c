import { z } from 'zod';
import { remembered } from '../remembered.ts';
import type { ContentType } from './content-type.ts';

/** `pluginOptions.varve.search` of an attribute and of a content type. Other members of `pluginOptions.varve` are not validated here. */

const attributeSearch = z.strictObject({
  weight: z.number().min(0.1).max(100).optional(),
  as: z.enum(['text', 'keyword', 'none']).optional(),
  typoTolerance: z.boolean().optional(),
});

export const SEARCH_OF_ATTRIBUTE = z.looseObject({ search: attributeSearch.optional() });

/** Matches one to five words. */
const PHRASE =
  /^[^\p{L}\p{N}\p{M}]*[\p{L}\p{N}\p{M}]+(?:[^\p{L}\p{N}\p{M}]+[\p{L}\p{N}\p{M}]+){0,4}[^\p{L}\p{N}\p{M}]*$/u;
const phrase = z.string().max(200).regex(PHRASE, { error: 'expected one to five words' });

const side = z.array(phrase).min(1).max(50);
const group = z.union([z.array(phrase).min(2).max(50), z.strictObject({ from: side, to: side })], {
  error: 'expected 2 to 50 phrases of one to five words, or {"from": […], "to": […]} with 1 to 50 of them',
});

/** Groups of words that count as equal, or whose searches find others, by locale; `*` is every locale. */
export const SYNONYM_GROUPS = z.record(z.string(), z.array(group).max(10_000));

/** Tiers of relevance, from the most important one. */
export const RANK_TIERS = ['typos', 'distance', 'weight', 'exact'] as const;
export type RankTier = (typeof RANK_TIERS)[number];

const before = z.enum(RANK_TIERS).optional();
const rankingRule = z.union(
  [
    z.strictObject({ attribute: z.string(), order: z.enum(['asc', 'desc']), before }),
    z.strictObject({ boost: z.string().max(2_000), before }),
  ],
  {
    error: `expected {"attribute": …, "order": "asc" or "desc"} or {"boost": "filters[…]…=…"}, each with or without "before": one of ${RANK_TIERS.join(', ')}`,
  },
);

const WAY = /^[^.]+(\.[^.]+){1,5}$/;

export const SEARCH_OF_TYPE = z.looseObject({
  search: z
    .strictObject({
      locale: z.string().min(2).max(35).optional(),
      through: z
        .array(z.string().regex(WAY, { error: 'expected a path such as city.name' }))
        .max(10)
        .optional(),
      synonyms: SYNONYM_GROUPS.optional(),
      compounds: z.boolean().optional(),
      distinct: z.string().optional(),
      geo: z.record(z.string(), z.strictObject({ lat: z.string(), lng: z.string() })).optional(),
      ranking: z.array(rankingRule).max(5).optional(),
    })
    .optional(),
});

/** Options of a content type for searches. */
type SearchOptions = NonNullable<z.output<typeof SEARCH_OF_TYPE>['search']>;

/**
 * Returns the options that a type has in `pluginOptions.varve.search`. Undefined if there are none, or if they have mistakes, which are
 * reported with the schema.
 */
export function searchOptionsOf({ varve }: Pick<ContentType, 'varve'>): SearchOptions | undefined {
  return typeof varve === 'object' && varve !== null ? readOptions(varve) : undefined;
}

/** Each search asks for options, and they also have the synonyms. */
const readOptions = remembered(
  (varve: object): SearchOptions | undefined => SEARCH_OF_TYPE.safeParse(varve).data?.search,
);
