import type { ContentType } from '../../shared/schema/content-type.ts';
import { SUGGEST_PARAMETERS } from '../query/plan-suggest.ts';
import { listSchema, objectSchema, queryParameter, TEXT_SCHEMA } from './document-parts.ts';
import type { JsonSchema, RouteOperation } from './openapi-types.ts';
import { listParameters } from './query-parameters.ts';
import { jsonResponse, readRefusals } from './responses.ts';
import { pascalCase } from './schema-names.ts';

type Scope = Parameters<typeof listParameters>[0];

const Q = queryParameter('q', 'What somebody has typed; the last word may be the beginning of one.', {
  type: 'string',
  maxLength: 512,
});
const LIMIT = queryParameter('limit', 'Maximum words, and maximum titles.', {
  type: 'integer',
  minimum: 1,
  maximum: 20,
  default: 5,
});
const COUNT: JsonSchema = { type: 'integer' };
const WORD = objectSchema({ text: TEXT_SCHEMA, count: COUNT }, ['text', 'count']);
const TITLE = objectSchema(
  { documentId: TEXT_SCHEMA, locale: TEXT_SCHEMA, title: TEXT_SCHEMA, highlighted: TEXT_SCHEMA },
  ['documentId', 'title'],
);

/** Operation that completes what somebody is typing. */
export function suggestOperation(scope: Scope, type: ContentType): RouteOperation {
  const shared = listParameters(scope, type).filter(({ name }) => SUGGEST_PARAMETERS.includes(name));
  const data = objectSchema({ words: listSchema(WORD), titles: listSchema(TITLE) }, ['words', 'titles']);
  const meta = objectSchema({ total: COUNT }, ['total']);
  return {
    operationId: `suggest${pascalCase(type.pluralName)}`,
    summary: `Complete a search for ${type.pluralName}`,
    description: 'Words and titles for a text that somebody is typing. The words complete its last one.',
    parameters: [Q, LIMIT, ...shared],
    responses: {
      200: jsonResponse('Suggestions.', objectSchema({ data, meta }, ['data', 'meta']), {
        data: { words: [{ text: 'pizza', count: 1 }], titles: [] },
        meta: { total: 1 },
      }),
      ...readRefusals(),
    },
  };
}
