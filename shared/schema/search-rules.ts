import { z } from 'zod';

const HAS_WORD = /[\p{L}\p{N}]/u;
const documentIds = z.array(z.string().min(1).max(64));

/** A rule for searches with certain words: which entries come first, which are hidden, and the filter in place of the words. */
const SEARCH_RULE = z
  .strictObject({
    when: z.string().max(200).regex(HAS_WORD, { error: 'expected at least one word' }),
    match: z.enum(['exact', 'contains']).optional(),
    locale: z.string().min(2).max(35).optional(),
    pin: documentIds.max(20).optional(),
    hide: documentIds.max(100).optional(),
    filter: z.string().max(2_000).optional(),
  })
  .refine(({ pin, hide, filter }) => (pin ?? hide ?? filter) !== undefined, {
    error: 'expected pin, hide or filter',
  });

/** All rules of a content type. */
export const SEARCH_RULES = z.array(SEARCH_RULE).max(1_000);

export type SearchRule = z.infer<typeof SEARCH_RULE>;

/** Rules of an installation, by uid of the content type. */
export const INSTALLED_RULES = z.record(z.string(), SEARCH_RULES);

export type InstalledRules = Readonly<Record<string, readonly SearchRule[]>>;
