import type { ContentType } from '../../shared/schema/content-type.ts';
import { jsonBody, listSchema, objectSchema, pathParameter, schemaRef } from './document-parts.ts';
import { allowedPaths, type PathScope } from './entry-paths.ts';
import { inputSchema } from './input-schemas.ts';
import type { JsonSchema, OpenApiScope, Paths, RouteOperation } from './openapi-types.ts';
import { listParameters, usersListParameters } from './query-parameters.ts';
import { ACCEPTED, jsonResponse, readRefusals, writeRefusals } from './responses.ts';
import { sampleAnswer } from './sample-values.ts';
import { nameOf } from './schema-names.ts';

const ID = pathParameter('id', 'The numeric id of the user.', { type: 'integer' });

const SAMPLE = { username: 'grace', email: 'grace@example.com', password: 'a long secret', role: 1 };

/**
 * Routes of `/api/users`, which name users by numeric id and take bodies without `data` (SEMANTICS section 11).
 * `envelope` false: answers are bare too.
 */
export function userPaths(scope: PathScope, type: ContentType, envelope: boolean): Paths {
  const operation = userOperations(scope, type, envelope);
  return allowedPaths(scope, type, {
    '/api/users': { get: ['find', operation.list], post: ['create', operation.create] },
    '/api/users/count': { get: ['find', operation.count] },
    '/api/users/{id}': {
      get: ['findOne', operation.one],
      put: ['update', operation.update],
      delete: ['delete', operation.remove],
    },
  });
}

/** Schema of writes of a user. */
export function userInputSchema(scope: OpenApiScope, type: ContentType): JsonSchema {
  const all = inputSchema(scope, type)['properties'] as Readonly<Record<string, JsonSchema>>;
  const shown = Object.entries(all).filter(
    ([name, schema]) => schema['writeOnly'] !== true || name in SAMPLE,
  );
  const role = { type: 'integer', enum: [1, 2], description: '1 Authenticated, 2 Public.', writeOnly: true };
  return objectSchema({ ...Object.fromEntries(shown), role });
}

/** Schema of a new user, with its required attributes. */
export function userCreateSchema(scope: OpenApiScope, type: ContentType): JsonSchema {
  return { ...userInputSchema(scope, type), required: Object.keys(SAMPLE) };
}

function userOperations(scope: PathScope, type: ContentType, envelope: boolean) {
  const name = nameOf(scope.names, type.uid);
  const parameters = envelope
    ? listParameters({ ...scope, drafts: false }, type)
    : usersListParameters(scope, type);
  const one = (description: string) => oneAnswer(name, type, envelope, description);
  return {
    list: {
      operationId: 'listUsers',
      summary: 'Find users',
      parameters,
      responses: { 200: listAnswer(name, type, envelope), ...readRefusals() },
    },
    create: {
      operationId: 'createUser',
      summary: 'Create a user',
      requestBody: jsonBody(schemaRef(`${name}.Create`), SAMPLE),
      responses: { 201: one('Created.'), 202: ACCEPTED, ...writeRefusals() },
    },
    count: {
      operationId: 'countUsers',
      summary: 'Count users',
      parameters: parameters.filter((parameter) => parameter.name === 'filters'),
      responses: { 200: jsonResponse('How many there are.', { type: 'integer' }, 1), ...readRefusals() },
    },
    ...userEntryOperations(scope, type, envelope),
  } satisfies Record<string, RouteOperation>;
}

function userEntryOperations(scope: PathScope, type: ContentType, envelope: boolean) {
  const name = nameOf(scope.names, type.uid);
  const one = (description: string) => oneAnswer(name, type, envelope, description);
  return {
    one: {
      operationId: 'getUser',
      summary: 'Read one user',
      parameters: [ID],
      responses: {
        200: one('The user.'),
        ...(envelope ? {} : { 204: { description: 'There is no such user.' } }),
        ...readRefusals(...(envelope ? (['NotFound'] as const) : [])),
      },
    },
    update: {
      operationId: 'updateUser',
      summary: 'Change a user',
      parameters: [ID],
      requestBody: jsonBody(schemaRef(`${name}.Input`), { blocked: true }),
      responses: { 200: one('Changed.'), 202: ACCEPTED, ...writeRefusals('NotFound') },
    },
    remove: {
      operationId: 'deleteUser',
      summary: 'Remove a user',
      parameters: [ID],
      responses: { 200: one('The user as it was.'), ...readRefusals('NotFound', 'Conflict') },
    },
  } satisfies Record<string, RouteOperation>;
}

function oneAnswer(name: string, type: ContentType, envelope: boolean, description: string): object {
  const user = sampleUser(type);
  return envelope
    ? jsonResponse(description, schemaRef(`${name}.Answer`), { data: user, meta: {} })
    : jsonResponse(description, schemaRef(name), user);
}

function listAnswer(name: string, type: ContentType, envelope: boolean): object {
  const users = [sampleUser(type)];
  if (!envelope) return jsonResponse('The users.', listSchema(schemaRef(name)), users);
  const meta = { pagination: { page: 1, pageSize: 25, pageCount: 1, total: 1 } };
  return jsonResponse('A page of users.', schemaRef(`${name}.List`), { data: users, meta });
}

function sampleUser(type: ContentType): object {
  const { username, email } = SAMPLE;
  return { ...sampleAnswer(type), username, email, provider: 'local' };
}
