import type { ContentType } from '../../shared/schema/content-type.ts';
import { listSchema, modelRef, objectSchema, pathParameter } from './document-parts.ts';
import { allowedPaths, type PathScope } from './entry-paths.ts';
import type { Paths, RouteOperation } from './openapi-types.ts';
import { filesListParameters } from './query-parameters.ts';
import { jsonResponse, readRefusals, writeRefusals } from './responses.ts';
import { sampleAnswer } from './sample-values.ts';

const ID = pathParameter('id', 'The numeric id of the file.', { type: 'integer' });

const SAMPLE = {
  name: 'kitchen.jpg',
  width: 1200,
  height: 800,
  formats: null,
  hash: 'kitchen_0f3a',
  ext: '.jpg',
  mime: 'image/jpeg',
  size: 84.2,
  url: '/uploads/kitchen_0f3a.jpg',
  previewUrl: null,
  provider: 'local',
  provider_metadata: null,
};

/** Routes of files, in Strapi's form: bare answers, numeric ids. */
export function uploadPaths(scope: PathScope, type: ContentType): Paths {
  const operation = uploadOperations(scope, type);
  return allowedPaths(scope, type, {
    '/api/upload': { post: ['create', operation.upload] },
    '/api/upload/files': { get: ['find', operation.list] },
    '/api/upload/files/{id}': { get: ['findOne', operation.one], delete: ['delete', operation.remove] },
  });
}

function uploadOperations(scope: PathScope, type: ContentType) {
  const file = modelRef(scope, type.uid);
  const sample = { ...sampleAnswer(type), ...SAMPLE };
  const files = listSchema(file);
  return {
    upload: {
      operationId: 'uploadFiles',
      summary: 'Upload files',
      description: 'With `ref`, `refId` and `field` the files are linked to that entry.',
      requestBody: { required: true, content: { 'multipart/form-data': { schema: UPLOAD_FORM } } },
      responses: { 201: jsonResponse('The files.', files, [sample]), ...writeRefusals() },
    },
    list: {
      operationId: 'listFiles',
      summary: 'Find files',
      parameters: filesListParameters(scope, type),
      responses: { 200: jsonResponse('The files.', files, [sample]), ...readRefusals() },
    },
    one: {
      operationId: 'getFile',
      summary: 'Read one file',
      parameters: [ID],
      responses: { 200: jsonResponse('The file.', file, sample), ...readRefusals('NotFound') },
    },
    remove: {
      operationId: 'deleteFile',
      summary: 'Remove a file',
      parameters: [ID],
      responses: {
        200: jsonResponse('The file as it was.', file, sample),
        ...readRefusals('NotFound', 'Conflict'),
      },
    },
  } satisfies Record<string, RouteOperation>;
}

const UPLOAD_FORM = objectSchema(
  {
    files: listSchema({ type: 'string', format: 'binary' }),
    fileInfo: { type: 'string', description: 'JSON: name, alternativeText and caption.' },
    ref: { type: 'string', description: 'The uid of a content type.' },
    refId: { type: 'string', description: 'The id of an entry of it.' },
    field: { type: 'string', description: 'A media attribute of it.' },
  },
  ['files'],
);
