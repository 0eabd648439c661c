import { DELIVERY_STATES, MOST_LISTED } from '../../shared/webhooks/delivery-state.ts';
import { WEBHOOK_EVENTS } from '../../shared/webhooks/webhook-events.ts';
import {
  envelopeSchema,
  jsonBody,
  listSchema,
  objectSchema,
  pathParameter,
  queryParameter,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { ApiOperation, JsonSchema, Parameter, Paths } from './openapi-types.ts';
import { jsonResponse, NO_CONTENT, readRefusals, writeRefusals } from './responses.ts';

/** Webhooks that are managed over HTTP. `deliveries`: this process delivers. */
export type DescribedWebhooks = { readonly deliveries: boolean };

export const WEBHOOK_TAG = 'Webhooks';
const PATH = '/_varve/webhooks';
const TEXTS = listSchema(TEXT_SCHEMA);
const ID = pathParameter('id', 'Id or name of the webhook.', TEXT_SCHEMA);

const CHOSEN = {
  name: { ...TEXT_SCHEMA, maxLength: 100 },
  url: TEXT_SCHEMA,
  events: listSchema({ enum: WEBHOOK_EVENTS }),
  types: { ...TEXTS, description: 'Content types; empty: all.' },
  locales: { ...TEXTS, description: 'Empty: all.' },
  populate: { ...TEXT_SCHEMA, description: '`*`, or a query string.' },
  allowPrivate: { type: 'boolean' },
} as const;
const INPUT = objectSchema({ ...CHOSEN, headers: { type: 'object', additionalProperties: TEXT_SCHEMA } }, [
  'url',
]);
const WEBHOOK = objectSchema(
  {
    id: TEXT_SCHEMA,
    ...CHOSEN,
    headers: {
      ...TEXTS,
      type: ['array', 'null'],
      description: 'Names of the additional headers; null if another access key encrypted them.',
    },
    status: { enum: ['active', 'paused', 'disabled'] },
    reason: { type: ['string', 'null'] },
    createdAt: TEXT_SCHEMA,
    since: { ...TEXT_SCHEMA, description: 'Position of the log behind which changes are delivered.' },
    deliveries: { type: 'object', description: 'How many there are in each state.' },
    secret: { ...TEXT_SCHEMA, description: 'Signs deliveries. Only in answers that make one.' },
  },
  ['id', 'name', 'url', 'status'],
);
const SAMPLE = {
  name: 'site',
  url: 'https://example.org/hook',
  events: ['entry.publish'],
  types: [],
  locales: [],
  populate: 'populate=*',
  allowPrivate: false,
};
const ANSWER = { id: 'h1', ...SAMPLE, headers: [], status: 'active' };
const DELIVERY = objectSchema(
  {
    id: TEXT_SCHEMA,
    event: TEXT_SCHEMA,
    state: { enum: DELIVERY_STATES },
    attempts: { type: 'integer' },
    body: { type: 'object' },
  },
  ['id', 'event', 'state'],
);

/** Routes of `/_varve/webhooks`, for callers with full access. */
export function webhookPaths({ deliveries }: DescribedWebhooks): Paths {
  return {
    [PATH]: {
      get: {
        ...operation('listWebhooks', 'List webhooks'),
        responses: {
          200: answer('The webhooks.', listSchema(WEBHOOK), [ANSWER]),
          ...readRefusals(),
        },
      },
      post: {
        ...operation('addWebhook', 'Add a webhook'),
        requestBody: body(INPUT, SAMPLE),
        responses: { 201: answer('Added, with its secret.', WEBHOOK, ANSWER), ...writeRefusals() },
      },
    },
    [`${PATH}/{id}`]: {
      get: {
        ...operation('getWebhook', 'Read a webhook', [ID]),
        responses: { 200: answer('The webhook.', WEBHOOK, ANSWER), ...readRefusals('NotFound') },
      },
      delete: {
        ...operation('removeWebhook', 'Remove a webhook and its deliveries', [ID]),
        responses: { 204: NO_CONTENT, ...writeRefusals('NotFound') },
      },
    },
    ...change('pause', 'Let deliveries wait'),
    ...change('resume', 'Send what waits'),
    ...change('rotate', 'Make a new secret'),
    [`${PATH}/{id}/test`]: TEST,
    ...(deliveries ? deliveryPaths() : {}),
  };
}

const TEST: Paths[string] = {
  post: {
    ...operation('testWebhook', 'Send trigger-test once', [ID]),
    responses: {
      200: answer('What the receiver answered.', { type: 'object' }, { kind: 'answered', status: 200 }),
      ...writeRefusals('NotFound'),
    },
  },
};

function deliveryPaths(): Paths {
  const parameters: readonly Parameter[] = [
    ID,
    queryParameter('state', 'Only these.', { enum: DELIVERY_STATES }),
    queryParameter('limit', 'The newest ones.', {
      type: 'integer',
      minimum: 1,
      maximum: MOST_LISTED,
      default: 100,
    }),
  ];
  const replay = objectSchema({
    delivery: { ...TEXT_SCHEMA, description: 'Id of one delivery.' },
    from: { type: 'integer', description: 'All since a position of the log.' },
  });
  return {
    [`${PATH}/{id}/deliveries`]: {
      get: {
        ...operation('listDeliveries', 'List stored deliveries, the newest first', parameters),
        responses: {
          200: answer('The deliveries.', listSchema(DELIVERY), []),
          ...readRefusals('NotFound'),
        },
      },
    },
    [`${PATH}/{id}/replay`]: {
      post: {
        ...operation('replayDeliveries', 'Send parked deliveries again, or those that are named', [ID]),
        requestBody: body(replay, { from: 4711 }),
        responses: {
          200: answer('How many.', objectSchema({ replayed: { type: 'integer' } }), { replayed: 3 }),
          ...writeRefusals('NotFound'),
        },
      },
    },
  };
}

function change(action: string, summary: string): Paths {
  const responses = { 200: answer('The webhook.', WEBHOOK, ANSWER), ...writeRefusals('NotFound') };
  return {
    [`${PATH}/{id}/${action}`]: { post: { ...operation(`${action}Webhook`, summary, [ID]), responses } },
  };
}

function operation(
  operationId: string,
  summary: string,
  parameters: readonly Parameter[] = [],
): Omit<ApiOperation, 'responses'> {
  return { operationId, tags: [WEBHOOK_TAG], summary, ...(parameters.length > 0 && { parameters }) };
}

function body(data: JsonSchema, example: object): object {
  return jsonBody(objectSchema({ data }, ['data']), { data: example });
}

function answer(description: string, data: JsonSchema, example: unknown): object {
  return jsonResponse(description, envelopeSchema(data), { data: example, meta: {} });
}
