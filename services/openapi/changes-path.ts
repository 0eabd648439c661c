import { type ContentType, FILE_TYPE } from '../../shared/schema/content-type.ts';
import { envelopeSchema, listSchema, objectSchema, queryParameter, TEXT_SCHEMA } from './document-parts.ts';
import type { PathScope } from './entry-paths.ts';
import type { Parameter, Paths } from './openapi-types.ts';
import { jsonResponse, readRefusals, refusals } from './responses.ts';
import { TICKETS, withFeedStream } from './streams.ts';

export const CHANGES_TAG = 'Changes';

/** Path of the change feed, for readers who may find a content type. */
export function changesPath(scope: PathScope, types: readonly ContentType[], files: ContentType): Paths {
  const found = [...types, files].filter((type) => scope.may(type, 'find')).map(({ uid }) => uid);
  if (found.length === 0) return {};
  return {
    '/api/_changes': {
      get: withFeedStream({
        operationId: 'listChanges',
        tags: [CHANGES_TAG],
        summary: 'List changes of documents',
        description:
          'Without `since` every row is listed first, then changes follow. `meta.next` is the `since` of the next request.',
        parameters: parameters(found, scope.drafts),
        responses: {
          200: jsonResponse('A page of changes.', PAGE, EXAMPLE),
          ...readRefusals(),
          ...refusals(['Gone']),
        },
      }),
    },
    '/_varve/tickets': TICKETS,
  };
}

function parameters(types: readonly string[], drafts: boolean): readonly Parameter[] {
  const example = types.find((uid) => uid !== FILE_TYPE) ?? FILE_TYPE;
  return [
    queryParameter('since', 'A sync token: `meta.next` of an answer to the same parameters.'),
    queryParameter('types', `Content types, separated by commas, such as \`${example}\`. Default: all.`),
    queryParameter('locales', 'Locales, separated by commas. Default: all.'),
    ...(drafts ? [STATUS] : []),
    queryParameter('related', 'Also documents that are linked with changed ones.', {
      type: 'boolean',
      default: false,
    }),
    queryParameter('limit', 'Items of a page.', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
  ];
}

const STATUS = queryParameter('status', '`published`, `draft`, or `draft,published`.', {
  type: 'string',
  default: 'published',
});

const NAME = { type: TEXT_SCHEMA, documentId: TEXT_SCHEMA };

const ITEM = objectSchema(
  {
    ...NAME,
    status: { enum: ['draft', 'published'] },
    event: { enum: ['create', 'update', 'delete', 'related'] },
    locales: listSchema(TEXT_SCHEMA),
    changed: { type: ['array', 'null'], items: TEXT_SCHEMA },
    position: TEXT_SCHEMA,
    at: { type: 'string', format: 'date-time' },
    cause: objectSchema(NAME, ['type', 'documentId']),
  },
  ['type', 'status', 'event', 'locales', 'position'],
);

const PAGE = envelopeSchema(
  listSchema(ITEM),
  objectSchema({ next: TEXT_SCHEMA, hasMore: { type: 'boolean' } }, ['next', 'hasMore']),
);

const EXAMPLE = {
  data: [
    {
      type: 'api::restaurant.restaurant',
      documentId: 'a1b2c3d4e5f6g7h8i9j0k1l2',
      status: 'published',
      event: 'update',
      locales: [],
      changed: ['name'],
      position: '4711',
      at: '2026-01-02T03:04:05.678Z',
    },
  ],
  meta: { next: '4711.Xq1bT0y8H3wM2v5sKdLpZA', hasMore: false },
};
