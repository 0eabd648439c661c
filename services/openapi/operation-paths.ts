import { envelopeSchema, jsonBody, listSchema, objectSchema, TEXT_SCHEMA } from './document-parts.ts';
import type { JsonSchema, Paths } from './openapi-types.ts';
import { jsonResponse, readRefusals, writeRefusals } from './responses.ts';

/** An operation of operators. */
type DescribedOperation = {
  readonly name: string;
  readonly summary: string;
  readonly answer: 'one' | 'all';
  readonly destroys?: true;
  /** JSON Schema of its request. */
  readonly form: object;
};
export type DescribedOperations = () => readonly DescribedOperation[];

export const OPERATION_TAG = 'Operations';
const PATH = '/_varve/operations';
const LINE: JsonSchema = { description: 'As the command prints it with `--json`.' };
const STREAM = 'event: line\ndata: {}\n\nevent: done\ndata: {}\n\n';

/** Returns the routes of `/_varve/operations`, for callers with full access. */
export function operationPaths(operations: readonly DescribedOperation[]): Paths {
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
