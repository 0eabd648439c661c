import { WORD_PARAMETERS } from './text-search.ts';

/** Root parameters of every read: those that Strapi accepts with `strictParams`. It ignores some of them (SEMANTICS section 10). */
export const READ_PARAMETERS: readonly string[] = [
  'filters',
  'sort',
  'fields',
  'populate',
  'status',
  'locale',
  'pagination',
  'page',
  'pageSize',
  'start',
  'limit',
  '_q',
  'publicationFilter',
  'hasPublishedVersion',
  'count',
  'ordering',
];

/** Root parameters of a list. */
export const LIST_PARAMETERS: readonly string[] = [...READ_PARAMETERS, 'explain', ...WORD_PARAMETERS];

/** Parameter of a plugin of Strapi: the levels to populate. */
export const LEVELS_PARAMETER = 'pLevel';

/** Parameter that asks for content as it was. It is answered before a query is planned: the planner knows no such name. */
export const AS_OF = 'asOf';
