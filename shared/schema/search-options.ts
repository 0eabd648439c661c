import { z } from 'zod';

/** `pluginOptions.varve.search` of an attribute and of a content type. Other members of `pluginOptions.varve` are not judged here. */

const attributeSearch = z.strictObject({
  weight: z.number().min(0.1).max(100).optional(),
  as: z.enum(['text', 'keyword', 'none']).optional(),
  typoTolerance: z.boolean().optional(),
});

export const SEARCH_OF_ATTRIBUTE = z.looseObject({ search: attributeSearch.optional() });

const oneWord = z.string().regex(/^[\p{L}\p{N}\p{M}]+$/u, { error: 'expected one word' });

const WAY = /^[^.]+(\.[^.]+){1,5}$/;

export const SEARCH_OF_TYPE = z.looseObject({
  search: z
    .strictObject({
      locale: z.string().min(2).max(35).optional(),
      through: z
        .array(z.string().regex(WAY, { error: 'expected a path such as city.name' }))
        .max(10)
        .optional(),
      synonyms: z.record(z.string(), z.array(z.array(oneWord).min(2))).optional(),
    })
    .optional(),
});
