import type { Action } from '../../shared/access/rights.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { jsonBody, objectSchema, pathParameter, schemaRef, TEXT_SCHEMA } from './document-parts.ts';
import { createSchema, requiredNames } from './input-schemas.ts';
import type { ApiOperation, JsonSchema, Method, OpenApiScope, Parameter, Paths } from './openapi-types.ts';
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

const DOCUMENT_ID = pathParameter('documentId', 'Id of the document.', TEXT_SCHEMA);

/** Routes of a type: the list, one entry, and the actions on it; of a single type those of its one entry. */
export function entryPaths(scope: PathScope, type: ContentType): Paths {
  if (type.kind === 'singleType')
    return allowedPaths(scope, type, { [`/api/${type.singularName}`]: entryRoutes(scope, type, []) });
  const path = `/api/${type.pluralName}`;
  return allowedPaths(scope, type, {
    [path]: { get: ['find', listOperation(scope, type)], post: ['create', createOperation(scope, type)] },
    [`${path}/{documentId}`]: entryRoutes(scope, type, [DOCUMENT_ID]),
    ...(type.draftAndPublish ? actionRoutes(scope, type, path) : {}),
  });
}

/** Operations by path and method, each with the right that it needs. */
type Routes = {
  readonly [path: string]: {
    readonly [method in Method]?: readonly [right: Action, operation: ApiOperation];
  };
};

/** Returns the operations that the reader may use. Paths without operations are omitted. */
export function allowedPaths({ may }: PathScope, type: ContentType, routes: Routes): Paths {
  const paths = Object.entries(routes).map(([path, methods]) => {
    const allowed = Object.entries(methods).filter(([, [right]]) => may(type, right));
    return [path, Object.fromEntries(allowed.map(([method, [, operation]]) => [method, operation]))] as const;
  });
  return Object.fromEntries(paths.filter(([, item]) => Object.keys(item).length > 0));
}

function entryRoutes(scope: PathScope, type: ContentType, path: readonly Parameter[]): Routes[string] {
  return {
    get: [path.length === 0 ? 'find' : 'findOne', entryOperation(scope, type, path)],
    put: ['update', updateOperation(scope, type, path)],
    delete: ['delete', removeOperation(scope, type, path)],
  };
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

function actionRoutes(scope: PathScope, type: ContentType, path: string): Routes {
  return Object.fromEntries(
    ACTIONS.map(({ right, segment, does }) => {
      const operation: ApiOperation = {
        operationId: `${right}${nameOf(scope.names, type.uid)}`,
        tags: [type.displayName],
        summary: `${does} ${type.singularName}`,
        parameters: [DOCUMENT_ID, ...actionParameters(scope, type)],
        responses: {
          200: entryAnswer(scope, type, 'Done.'),
          202: ACCEPTED,
          ...readRefusals('NotFound', 'Conflict'),
        },
      };
      return [`${path}/{documentId}/actions/${segment}`, { post: [right, operation] }];
    }),
  );
}

function entryAnswer(scope: PathScope, type: ContentType, description: string): object {
  const example = { data: sampleAnswer(type), meta: {} };
  return jsonResponse(description, schemaRef(`${nameOf(scope.names, type.uid)}.Answer`), example);
}

/** Schema of a creation. A draft needs no required attribute, a publication needs them all. */
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
  return jsonBody(objectSchema({ data }, ['data']), sample && { data: sample });
}
