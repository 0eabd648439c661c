import * as z from 'zod';

const words = z.array(z.string());
const synonymsSet = z.strictObject({
  contentType: z.string().describe('A content type, such as `api::tag.tag`; `*`: every type'),
  groups: z
    .record(z.string(), z.array(z.union([words, z.strictObject({ from: words, to: words })])))
    .describe('All groups of the content type, by locale; `*`: every locale'),
});

const searchRulesSet = z.strictObject({
  contentType: z.string().describe('A content type, such as `api::tag.tag`'),
  rules: z
    .array(
      z.strictObject({
        when: z.string().describe('The words of a search'),
        match: z.enum(['exact', 'contains']).optional().describe('Absent: `exact`'),
        locale: z.string().optional().describe('Absent: every locale'),
        pin: words.optional().describe('Ids of the documents that come first'),
        hide: words.optional().describe('Ids of the documents that are hidden'),
        filter: z.string().optional().describe('A filter in place of the words'),
      }),
    )
    .describe('All rules of the content type'),
});

/** Schemas of the events that set synonyms and rules of searches, by type: that of version 1 first. */
export const SEARCH_SCHEMAS = {
  'synonyms-set': [synonymsSet],
  'search-rules-set': [searchRulesSet],
} as const;
