import type { ContentType } from '../../shared/schema/content-type.ts';
import { routeNameOf } from '../../shared/schema/schema-registry.ts';
import {
  envelopeSchema,
  jsonBody,
  listSchema,
  modelRef,
  objectSchema,
  pathParameter,
  queryParameter,
  TEXT_SCHEMA,
} from './document-parts.ts';
import { allowedPaths, type PathScope } from './entry-paths.ts';
import type { JsonSchema, Parameter, Paths, RouteOperation } from './openapi-types.ts';
import { PAGES } from './query-parameters.ts';
import { ACCEPTED, jsonResponse, readRefusals, writeRefusals } from './responses.ts';
import { sampleAnswer } from './sample-values.ts';
import { nameOf, pascalCase } from './schema-names.ts';

/** Paths of a type's history, for readers who may see earlier versions. */
export function historyPaths(scope: PathScope, type: ContentType): Paths {
  const isSingle = type.kind === 'singleType';
  const base = `/api/${routeNameOf(type)}`;
  const path = isSingle ? base : `${base}/{documentId}`;
  const named = isSingle ? [] : [DOCUMENT_ID];
  const read = isSingle ? 'find' : 'findOne';
  const name = nameOf(scope.names, type.uid);
  return allowedPaths(scope, type, {
    [`${path}/versions`]: { get: [read, versions(scope, type, name, named)] },
    [`${path}/versions/{version}`]: { get: [read, version(scope, type, name, named)] },
    [`${path}/versions/{version}/diff`]: { get: [read, difference(scope, type, name, named)] },
    ...(isSingle ? {} : { [`${base}/_deleted`]: { get: ['find', deleted(scope, type)] } }),
    ...(type.draftAndPublish && !scope.drafts
      ? {}
      : { [`${path}/actions/restore`]: { post: ['update', restore(scope, type, name, named)] } }),
  });
}

const DOCUMENT_ID = pathParameter('documentId', 'Id of the document, which may be deleted.', TEXT_SCHEMA);
const VERSION_ID = pathParameter('version', 'Id of a version.', TEXT_SCHEMA);

const MADE = {
  createdAt: { type: 'string', format: 'date-time' },
  createdBy: { type: ['object', 'null'], description: 'Who made it, such as a token or a user.' },
  via: { type: ['string', 'null'], description: 'The command, such as `update` or `restore`.' },
} as const satisfies Record<string, JsonSchema>;

const VERSION = objectSchema(
  {
    id: { ...TEXT_SCHEMA, description: 'Position in the log.' },
    documentId: TEXT_SCHEMA,
    locale: { type: ['string', 'null'] },
    status: { enum: ['draft', 'published', 'modified', null], description: 'null: there is no such entry.' },
    action: { enum: ['create', 'update', 'publish', 'unpublish', 'draft-discard', 'delete'] },
    changed: {
      type: ['array', 'null'],
      items: TEXT_SCHEMA,
      description: 'Attributes that an update may have changed; null if that is not known.',
    },
    ...MADE,
  },
  ['id', 'documentId', 'locale', 'status', 'action', 'changed', 'createdAt'],
);

const MADE_EXAMPLE = {
  createdAt: '2026-01-02T03:04:05.678Z',
  createdBy: { kind: 'token', name: 'editor' },
  via: 'update',
};

const VERSION_EXAMPLE = {
  id: '4711',
  documentId: 'a1b2c3d4e5f6g7h8i9j0k1l2',
  locale: null,
  status: 'modified',
  action: 'update',
  changed: ['name'],
  ...MADE_EXAMPLE,
};

const ENTRY_EXAMPLE = { documentId: VERSION_EXAMPLE.documentId, name: 'An earlier name' };
const DELETION_EXAMPLE = { documentId: VERSION_EXAMPLE.documentId, id: '4712', version: '4711' };
const PAGE_EXAMPLE = { pagination: { page: 1, pageSize: 25, pageCount: 1, total: 1 } };

const ENTRY: JsonSchema = {
  type: ['object', 'null'],
  description:
    'The entry with its components, without numeric ids, and its own relations as documentIds. null: there was none.',
};

function versionParameters({ drafts }: PathScope, type: ContentType): readonly Parameter[] {
  const status = queryParameter('status', 'Version of the entry. Default: what the event wrote, or all.', {
    enum: ['draft', 'published'],
  });
  const locale = queryParameter('locale', 'Locale of the entry. Default: that of the event, or all.');
  return [...(drafts ? [status] : []), ...(type.localized ? [locale] : [])];
}

type Named = readonly Parameter[];

function versions(scope: PathScope, type: ContentType, name: string, path: Named): RouteOperation {
  return {
    operationId: `list${name}Versions`,
    summary: `List the versions of a ${type.singularName}`,
    description: 'Newest first. Also of a document that was deleted.',
    parameters: [...path, ...versionParameters(scope, type), PAGES],
    responses: {
      200: jsonResponse('A page of versions.', envelopeSchema(listSchema(VERSION)), {
        data: [VERSION_EXAMPLE],
        meta: PAGE_EXAMPLE,
      }),
      ...readRefusals('NotFound'),
    },
  };
}

function version(scope: PathScope, type: ContentType, name: string, path: Named): RouteOperation {
  return {
    operationId: `get${name}Version`,
    summary: `Read a version of a ${type.singularName}`,
    parameters: [...path, VERSION_ID, ...versionParameters(scope, type)],
    responses: {
      200: jsonResponse(
        'The version.',
        envelopeSchema(ENTRY, objectSchema({ version: VERSION }, ['version'])),
        { data: ENTRY_EXAMPLE, meta: { version: VERSION_EXAMPLE } },
      ),
      ...readRefusals('NotFound'),
    },
  };
}

function difference(scope: PathScope, type: ContentType, name: string, path: Named): RouteOperation {
  const changed = listSchema(
    objectSchema({ path: TEXT_SCHEMA, from: {}, to: {}, words: {}, added: {}, removed: {} }, ['path']),
  );
  return {
    operationId: `compare${name}Versions`,
    summary: `Compare versions of a ${type.singularName}`,
    parameters: [
      ...path,
      VERSION_ID,
      queryParameter('with', 'Id of another version, or `current`.', { ...TEXT_SCHEMA, default: 'current' }),
      queryParameter('format', '`words`: texts also word by word.', { enum: ['words'] }),
      ...versionParameters(scope, type),
    ],
    responses: {
      200: jsonResponse('The differences.', envelopeSchema(objectSchema({ changed }, ['changed'])), {
        data: { changed: [{ path: 'name', from: 'An earlier name', to: 'A name' }] },
        meta: { from: VERSION_EXAMPLE, to: 'current' },
      }),
      ...readRefusals('NotFound'),
    },
  };
}

function deleted(scope: PathScope, type: ContentType): RouteOperation {
  const deletion = objectSchema({ documentId: TEXT_SCHEMA, id: TEXT_SCHEMA, version: TEXT_SCHEMA, ...MADE });
  const meta = objectSchema({
    pagination: { type: 'object' },
    deletions: listSchema(deletion),
    next: { type: ['string', 'null'] },
  });
  return {
    operationId: `listDeleted${pascalCase(type.pluralName)}`,
    summary: `List deleted ${type.pluralName}`,
    description:
      'Newest deletion first, with the last values. A request looks at 200 documents; `before` continues.',
    parameters: [
      queryParameter('before', '`meta.next` of an answer.'),
      ...versionParameters(scope, type),
      PAGES,
    ],
    responses: {
      200: jsonResponse('A page of entries.', envelopeSchema(listSchema(ENTRY), meta), {
        data: [ENTRY_EXAMPLE],
        meta: { ...PAGE_EXAMPLE, deletions: [{ ...DELETION_EXAMPLE, ...MADE_EXAMPLE }], next: null },
      }),
      ...readRefusals(),
    },
  };
}

function restore(scope: PathScope, type: ContentType, name: string, path: Named): RouteOperation {
  const data = objectSchema({ version: TEXT_SCHEMA }, ['version']);
  return {
    operationId: `restore${name}`,
    summary: `Write an earlier version of a ${type.singularName}`,
    description: type.draftAndPublish ? 'It becomes the draft.' : 'It becomes the entry.',
    parameters: [...path],
    requestBody: jsonBody(objectSchema({ data }, ['data']), { data: { version: '4711' } }),
    responses: {
      200: jsonResponse('The entry.', modelRef(scope, type.uid, 'Answer'), {
        data: sampleAnswer(type),
        meta: { restored: { ignored: [], missing: [] } },
      }),
      202: ACCEPTED,
      ...writeRefusals('NotFound'),
    },
  };
}
