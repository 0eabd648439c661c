import type { Action } from '../../shared/access/rights.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { jsonBody, modelRef, objectSchema, pathParameter, TEXT_SCHEMA } from './document-parts.ts';
import { requiredNames } from './input-schemas.ts';
import type { JsonSchema, Method, OpenApiScope, Parameter, Paths, RouteOperation } from './openapi-types.ts';
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
import { suggestOperation } from './suggest-operation.ts';

/** Rights of a caller on a type; everything in development mode. */
export type HasRight = (type: ContentType, action: Action) => boolean;
export type PathScope = OpenApiScope & {
  readonly may: HasRight;
  readonly drafts: boolean;
  readonly live: boolean;
};

const DOCUMENT_ID = pathParameter('documentId', 'Id of the document.', TEXT_SCHEMA);

/** Routes of a type: the list, one entry, and the actions on it. A single type has only the routes of its one entry. */
export function entryPaths(scope: PathScope, type: ContentType): Paths {
  if (type.kind === 'singleType')
    return allowedPaths(scope, type, { [`/api/${type.singularName}`]: entryRoutes(scope, type, []) });
  const path = `/api/${type.pluralName}`;
  return allowedPaths(scope, type, {
    [path]: { get: ['find', listOperation(scope, type)], post: ['create', createOperation(scope, type)] },
    [`${path}/_suggest`]: { get: ['find', suggestOperation(scope, type)] },
    [`${path}/{documentId}`]: entryRoutes(scope, type, [DOCUMENT_ID]),
    ...(type.draftAndPublish ? actionRoutes(scope, type, path) : {}),
  });
}

/** Operations by path and method, each with the right that it needs. */
type Routes = {
  readonly [path: string]: {
    readonly [method in Method]?: readonly [right: Action, operation: RouteOperation];
  };
};

/** Returns the operations that the reader may use, with the tag of the type. Paths without operations are omitted. */
export function allowedPaths({ may }: PathScope, type: ContentType, routes: Routes): Paths {
  const paths = Object.entries(routes).map(([path, methods]) => {
    const allowed = Object.entries(methods).filter(([, [right]]) => may(type, right));
    const operations = allowed.map(([method, [, { operationId, ...operation }]]) => [
      method,
      { operationId, tags: [type.displayName], ...operation },
    ]);
    return [path, Object.fromEntries(operations)] as const;
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

function listOperation(scope: PathScope, type: ContentType): RouteOperation {
  const meta = { pagination: { page: 1, pageSize: 25, pageCount: 1, total: 1 } };
  const operation: RouteOperation = {
    operationId: `list${pascalCase(type.pluralName)}`,
    summary: `Find ${type.pluralName}`,
    parameters: listParameters(scope, type),
    responses: {
      200: jsonResponse('A page of entries.', modelRef(scope, type.uid, 'List'), {
        data: [sampleAnswer(type)],
        meta,
      }),
      ...readRefusals(),
    },
  };
  return scope.live ? withLiveList(operation) : operation;
}

function entryOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): RouteOperation {
  return {
    operationId: `get${nameOf(scope.names, type.uid)}`,
    summary: `Read ${path.length === 0 ? 'the' : 'one'} ${type.singularName}`,
    parameters: [...path, ...entryParameters(scope, type)],
    responses: { 200: entryAnswer(scope, type, 'The entry.'), ...readRefusals('NotFound') },
  };
}

function createOperation(scope: PathScope, type: ContentType): RouteOperation {
  return {
    operationId: `create${nameOf(scope.names, type.uid)}`,
    summary: `Create a ${type.singularName}`,
    ...(type.draftAndPublish ? { description: 'Published at once, unless `status=draft`.' } : {}),
    parameters: writeParameters(scope, type),
    requestBody: writeBody(scope, type, creationSchema(scope, type)),
    responses: { 201: entryAnswer(scope, type, 'Created.'), 202: ACCEPTED, ...writeRefusals() },
  };
}

function updateOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): RouteOperation {
  const creates = path.length === 0 ? ' Creates the entry when there is none.' : '';
  const publishes = type.draftAndPublish ? ' Published at once, unless `status=draft`.' : '';
  return {
    operationId: `update${nameOf(scope.names, type.uid)}`,
    summary: `Change ${path.length === 0 ? 'the' : 'a'} ${type.singularName}`,
    description: `Attributes that are not sent stay as they are.${creates}${publishes}`,
    parameters: [...path, ...writeParameters(scope, type)],
    requestBody: writeBody(scope, type, modelRef(scope, type.uid, 'Input')),
    responses: { 200: entryAnswer(scope, type, 'Changed.'), 202: ACCEPTED, ...writeRefusals('NotFound') },
  };
}

function removeOperation(scope: PathScope, type: ContentType, path: readonly Parameter[]): RouteOperation {
  return {
    operationId: `delete${nameOf(scope.names, type.uid)}`,
    summary: `Remove ${path.length === 0 ? 'the' : 'a'} ${type.singularName}`,
    description: 'All versions of the locale. With `filters`, only if the entry matches.',
    parameters: [...path, ...removeParameters(scope, type)],
    responses: { 204: NO_CONTENT, ...readRefusals('Conflict') },
  };
}

const AT: JsonSchema = {
  type: ['string', 'null'],
  description: 'An instant with an offset, or a local time of `timezone`. null: no longer.',
};
const TIMEZONE: JsonSchema = { type: ['string', 'null'], description: 'Such as Europe/Berlin.' };

const ACTIONS = [
  { right: 'publish', segment: 'publish', does: 'Publish the draft of a' },
  { right: 'unpublish', segment: 'unpublish', does: 'Take back the publication of a' },
  { right: 'discardDraft', segment: 'discard-draft', does: 'Make the draft what is published of a' },
] as const;

/** Body that lets an action wait for its time. The answer to it is a 202, too. */
const SCHEDULED = {
  description:
    'With `at` it waits for that time: the answer is a 202 with `data` of the release that has this one action.',
  requestBody: {
    content: {
      'application/json': {
        schema: objectSchema({ data: objectSchema({ at: AT, timezone: TIMEZONE }, ['at']) }, ['data']),
        example: { data: { at: '2026-12-24T08:00', timezone: 'Europe/Berlin' } },
      },
    },
  },
};

function actionRoutes(scope: PathScope, type: ContentType, path: string): Routes {
  return Object.fromEntries(
    ACTIONS.map(({ right, segment, does }) => {
      const operation: RouteOperation = {
        operationId: `${right}${nameOf(scope.names, type.uid)}`,
        summary: `${does} ${type.singularName}`,
        parameters: [DOCUMENT_ID, ...actionParameters(scope, type)],
        ...(right === 'discardDraft' ? {} : SCHEDULED),
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
  return jsonResponse(description, modelRef(scope, type.uid, 'Answer'), example);
}

/** Schema of a creation. A draft needs no required attribute, a publication needs them all. */
function creationSchema(scope: PathScope, type: ContentType): JsonSchema {
  const draft = modelRef(scope, type.uid, 'Input');
  if (requiredNames(type).length === 0) return draft;
  const published = modelRef(scope, type.uid, 'Create');
  if (!type.draftAndPublish || !scope.drafts) return published;
  return { anyOf: [published, { ...draft, description: 'With `status=draft`.' }] };
}

function writeBody(scope: PathScope, type: ContentType, data: JsonSchema): object {
  const sample = sampleInput(scope.registry, type);
  return jsonBody(objectSchema({ data }, ['data']), sample && { data: sample });
}
