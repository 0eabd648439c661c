import {
  envelopeSchema,
  jsonBody,
  listSchema,
  objectSchema,
  pathParameter,
  queryParameter,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { JsonSchema, Paths } from './openapi-types.ts';
import { jsonResponse, NO_CONTENT, readRefusals, writeRefusals } from './responses.ts';

/** An operation of operators. */
type DescribedOperation = {
  readonly name: string;
  readonly summary: string;
  readonly answer: 'one' | 'all';
  readonly destroys?: true;
  /** JSON Schema of its request. */
  readonly form: object;
};
/** An operation with a path of its own. */
type DescribedResource = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** JSON Schema of `data` in its body. */
  readonly body?: object;
  readonly query?: object;
  readonly result?: object;
  readonly tag: string;
  readonly status?: 200 | 201 | 204;
};
export type DescribedOperations = () => {
  readonly operations: readonly DescribedOperation[];
  readonly resources: readonly DescribedResource[];
};

export const OPERATION_TAG = 'Operations';

const PATH = '/_varve/operations';
const LINE: JsonSchema = { description: 'As the command prints it with `--json`.' };
const STREAM = 'event: line\ndata: {}\n\nevent: done\ndata: {}\n\n';

/** Returns the routes of operators, for callers with full access. */
export function operationPaths({ operations, resources }: ReturnType<DescribedOperations>): Paths {
  const paths = Map.groupBy(resources, ({ path }) => path.replace(/:(\w+)/g, '{$1}'));
  return {
    ...(operations.length === 0 ? {} : pathsOfOperations(operations)),
    ...Object.fromEntries(
      [...paths].map(([path, found]) => [
        path,
        Object.fromEntries(found.map((each) => [each.method.toLowerCase(), describedResource(each)])),
      ]),
    ),
  };
}

function describedResource({
  name,
  tag,
  summary,
  path,
  query,
  result,
  body,
  status = 200,
}: DescribedResource) {
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) =>
      pathParameter(parameter, 'Id or name, as a list shows it.', TEXT_SCHEMA),
    ),
    ...Object.entries((query as { readonly properties?: Record<string, JsonSchema> })?.properties ?? {}).map(
      ([parameter, { description, ...schema }]) => queryParameter(parameter, String(description), schema),
    ),
  ];
  const missing = path.includes(':') ? (['NotFound'] as const) : [];
  const refusals =
    body === undefined && status === 200 ? readRefusals(...missing) : writeRefusals(...missing);
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: jsonBody(objectSchema({ data: body as JsonSchema }, ['data'])) }),
    responses: {
      [status]:
        status === 204
          ? NO_CONTENT
          : jsonResponse('The state, or the result.', envelopeSchema({ ...result })),
      ...refusals,
    },
  };
}

function pathsOfOperations(operations: readonly DescribedOperation[]): Paths {
  const listed = objectSchema({
    name: TEXT_SCHEMA,
    summary: TEXT_SCHEMA,
    answer: { enum: ['one', 'all'], description: 'The last line, or all lines.' },
    destroys: { const: true, description: 'A request repeats the name as `confirm`.' },
    form: { type: 'object', description: 'JSON Schema of `data`.' },
  });
  const list = {
    operationId: 'listOperations',
    tags: [OPERATION_TAG],
    summary: 'List operations, each with the JSON Schema of its request',
    responses: {
      200: jsonResponse('The operations.', envelopeSchema(listSchema(listed)), { data: [], meta: {} }),
      ...readRefusals(),
    },
  };
  return {
    [PATH]: { get: list },
    ...Object.fromEntries(operations.map((each) => [`${PATH}/${each.name}`, { post: described(each) }])),
  };
}

function described({
  name,
  summary,
  answer,
  destroys,
  form,
}: DescribedOperation): NonNullable<Paths[string]['post']> {
  const data = answer === 'one' ? LINE : listSchema(LINE);
  const json = jsonResponse('Its last line, or all lines, at its end.', envelopeSchema(data)) as {
    readonly content: object;
  };
  return {
    operationId: `run-${name}`,
    tags: [OPERATION_TAG],
    summary,
    description: `With \`Accept: text/event-stream\` the lines come as they are made: \`line\`, then \`done\` or \`failed\`.${destroys ? ' A request repeats the name as `confirm`.' : ''}`,
    requestBody: jsonBody(objectSchema({ data: form as JsonSchema }, destroys ? ['data'] : [])),
    responses: {
      200: {
        ...json,
        content: { ...json.content, 'text/event-stream': { schema: TEXT_SCHEMA, example: STREAM } },
      },
      ...writeRefusals('NotFound'),
    },
  };
}
