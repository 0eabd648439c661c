import type { Action } from '../../shared/access/rights.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { createSchema, requiredNames } from './input-schemas.ts';
import type { ApiOperation, JsonSchema, OpenApiScope, Parameter, PathItem, Paths } from './openapi-types.ts';
import { schemaRef } from './openapi-types.ts';
import {
  actionParameters,
  entryParameters,
  listParameters,
  removeParameters,
  writeParameters,
} from './query-parameters.ts';
import { ACCEPTED, jsonResponse, NO_CONTENT, readRefusals, writeRefusals } from './responses.ts';
import { sampleAnswer, sampleInput } from './sample-values.ts';
import { nameOf, pascalCase } from './schema-names.ts';
import { withLiveList } from './streams.ts';

/** Rights of a caller on a type; everything in development mode. */
export type HasRight = (type: ContentType, action: Action) => boolean;
export type PathScope = OpenApiScope & {
  readonly may: HasRight;
  readonly drafts: boolean;
  readonly live: boolean;
};

const DOCUMENT_ID: Parameter = {
  name: 'documentId',
  in: 'path',
  required: true,
  description: 'Id of the document.',
  schema: { type: 'string' },
};

/** Routes of a collection type: the list, one entry, and the actions on it. */
export function collectionPaths(scope: PathScope, type: ContentType): Paths {
  const path = `/api/${type.pluralName}`;
  return withoutEmpty({
    [path]: {
      ...allowed(scope, type, 'find', { get: listOperation }),
      ...allowed(scope, type, 'create', { post: createOperation }),
    },
    [`${path}/{documentId}`]: {
      ...allowed(scope, type, 'findOne', { get: (at) => entryOperation(at, type, [DOCUMENT_ID]) }),
      ...allowed(scope, type, 'update', { put: (at) => updateOperation(at, type, [DOCUMENT_ID]) }),
      ...allowed(scope, type, 'delete', { delete: (at) => removeOperation(at, type, [DOCUMENT_ID]) }),
    },
    ...actionPaths(scope, type, path),
  });
}

/** Routes of a single type: its one entry. */
export function singlePaths(scope: PathScope, type: ContentType): Paths {
  return withoutEmpty({
    [`/api/${type.singularName}`]: {
      ...allowed(scope, type, 'find', { get: (at) => entryOperation(at, type, []) }),
      ...allowed(scope, type, 'update', { put: (at) => updateOperation(at, type, []) }),
      ...allowed(scope, type, 'delete', { delete: (at) => removeOperation(at, type, []) }),
    },
  });
}

type Build = (scope: PathScope, type: ContentType) => ApiOperation;

function allowed(
  scope: PathScope,
  type: ContentType,
  right: Action,
  builds: { readonly [method in keyof PathItem]?: Build },
): PathItem {
  if (!scope.may(type, right)) return {};
  return Object.fromEntries(Object.entries(builds).map(([method, build]) => [method, build(scope, type)]));
}

function withoutEmpty(paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).filter(([, item]) => Object.keys(item).length > 0));
}

function listOperation(scope: PathScope, type: ContentType): ApiOperation {
  const meta = { pagination: { page: 1, pageSize: 25, pageCount: 1, total: 1 } };
  const operation: ApiOperation = {
    operationId: `list${pascalCase(type.pluralName)}`,
    tags: [type.displayName],
    summary: `Find ${type.pluralName}`,
    parameters: listParameters(scope, type, scope),
    responses: {
      200: jsonResponse('A page of entries.', schemaRef(`${nameOf(scope.names, type.uid)}.List`), {
        data: [sampleAnswer(type)],
        meta,
      }),
      ...readRefusals(),
    },
  };
  return scope.live ? withLiveList(operation) : operation;
}

function entryOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): ApiOperation {
  return {
    operationId: `get${nameOf(scope.names, type.uid)}`,
    tags: [type.displayName],
    summary: `Read ${path.length === 0 ? 'the' : 'one'} ${type.singularName}`,
    parameters: [...path, ...entryParameters(scope, type, scope)],
    responses: { 200: entryAnswer(scope, type, 'The entry.'), ...readRefusals('NotFound') },
  };
}

function createOperation(scope: PathScope, type: ContentType): ApiOperation {
  return {
    operationId: `create${nameOf(scope.names, type.uid)}`,
    tags: [type.displayName],
    summary: `Create a ${type.singularName}`,
    ...(type.draftAndPublish ? { description: 'Published at once, unless `status=draft`.' } : {}),
    parameters: writeParameters(scope, type, scope),
    requestBody: writeBody(scope, type, creationSchema(scope, type)),
    responses: { 201: entryAnswer(scope, type, 'Created.'), 202: ACCEPTED, ...writeRefusals() },
  };
}

function updateOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): ApiOperation {
  const creates = path.length === 0 ? ' Creates the entry when there is none.' : '';
  const publishes = type.draftAndPublish ? ' Published at once, unless `status=draft`.' : '';
  return {
    operationId: `update${nameOf(scope.names, type.uid)}`,
    tags: [type.displayName],
    summary: `Change ${path.length === 0 ? 'the' : 'a'} ${type.singularName}`,
    description: `Attributes that are not sent stay as they are.${creates}${publishes}`,
    parameters: [...path, ...writeParameters(scope, type, scope)],
    requestBody: writeBody(scope, type, schemaRef(`${nameOf(scope.names, type.uid)}.Input`)),
    responses: { 200: entryAnswer(scope, type, 'Changed.'), 202: ACCEPTED, ...writeRefusals('NotFound') },
  };
}

function removeOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): ApiOperation {
  return {
    operationId: `delete${nameOf(scope.names, type.uid)}`,
    tags: [type.displayName],
    summary: `Remove ${path.length === 0 ? 'the' : 'a'} ${type.singularName}`,
    description: 'All versions of the locale. With `filters`, only if the entry matches.',
    parameters: [...path, ...removeParameters(scope, type)],
    responses: { 204: NO_CONTENT, ...readRefusals('Conflict') },
  };
}

const ACTIONS = [
  { right: 'publish', segment: 'publish', does: 'Publish the draft of a' },
  { right: 'unpublish', segment: 'unpublish', does: 'Take back the publication of a' },
  { right: 'discardDraft', segment: 'discard-draft', does: 'Make the draft what is published of a' },
] as const;

function actionPaths(scope: PathScope, type: ContentType, path: string): Paths {
  if (!type.draftAndPublish) return {};
  return Object.fromEntries(
    ACTIONS.map(({ right, segment, does }) => {
      const build = (): ApiOperation => ({
        operationId: `${right}${nameOf(scope.names, type.uid)}`,
        tags: [type.displayName],
        summary: `${does} ${type.singularName}`,
        parameters: [DOCUMENT_ID, ...actionParameters(scope, type)],
        responses: {
          200: entryAnswer(scope, type, 'Done.'),
          202: ACCEPTED,
          ...readRefusals('NotFound', 'Conflict'),
        },
      });
      return [`${path}/{documentId}/actions/${segment}`, allowed(scope, type, right, { post: build })];
    }),
  );
}

function entryAnswer(scope: PathScope, type: ContentType, description: string): object {
  const example = { data: sampleAnswer(type), meta: {} };
  return jsonResponse(description, schemaRef(`${nameOf(scope.names, type.uid)}.Answer`), example);
}

/** A draft needs no required attribute, a publication needs them all. */
function creationSchema(scope: PathScope, type: ContentType): JsonSchema {
  const name = nameOf(scope.names, type.uid);
  if (requiredNames(type).length === 0) return schemaRef(`${name}.Input`);
  const published = schemaRef(`${name}.Create`);
  if (!type.draftAndPublish || !scope.drafts) return published;
  return { anyOf: [published, { ...schemaRef(`${name}.Input`), description: 'With `status=draft`.' }] };
}

/** `<name>.Create`, for types that have required attributes. */
export function creationSchemas(scope: OpenApiScope, type: ContentType): Record<string, JsonSchema> {
  if (requiredNames(type).length === 0) return {};
  return { [`${nameOf(scope.names, type.uid)}.Create`]: createSchema(scope, type) };
}

function writeBody(scope: PathScope, type: ContentType, data: JsonSchema): object {
  const sample = sampleInput(scope.registry, type);
  const schema = { type: 'object', properties: { data }, required: ['data'] };
  return {
    required: true,
    content: {
      'application/json': { schema, ...(sample === undefined ? {} : { example: { data: sample } }) },
    },
  };
}
