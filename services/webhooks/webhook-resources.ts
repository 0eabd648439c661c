import * as z from 'zod';
import type { FormProblem } from '../../shared/form-problems.ts';
import { isRecord } from '../../shared/json-record.ts';
import { refusedForm } from '../../shared/refused-form.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Resource, ResourceRequest, ResourceResult } from '../../shared/resource.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { isBusy } from '../../shared/sqlite/failures.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { DELIVERY_STATES, type DeliveryState, MOST_LISTED } from '../../shared/webhooks/delivery-state.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import type { DeliveryStore } from './delivery-store.ts';
import {
  describeDelivery,
  describeWebhook,
  describeWithoutBody,
  replayDeliveries,
  testWebhook,
} from './describe-webhook.ts';
import type { WebhookCommands } from './webhook-commands.ts';
import { KEEP_OLD_SECRET_MS, type WebhookLimits } from './webhook-limits.ts';
import { isLogPosition, parseWebhook, WEBHOOK_FORM } from './webhook-request.ts';

export type ServedWebhooks = {
  readonly commands: WebhookCommands;
  readonly limits: WebhookLimits;
  /** Absent: this process never delivers. */
  readonly store?: DeliveryStore;
  /** Writes requested replays to the log, for the next leader. */
  readonly announce?: () => Promise<void>;
};

/** `registry`: undefined for a command, which has no content types. */
type Parts = ServedWebhooks & { readonly registry: SchemaRegistry | undefined };

const LOCK_WAIT_MS = 5_000;
const PATH = '/_varve/webhooks';
/** Lists the deliveries of all webhooks, instead of the id of one. */
export const ANY = '*';
const SHOWN_ONCE = { secret: 'is shown once; receivers verify signatures with it' };

const HOOK = z.looseObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  status: z.enum(['active', 'paused', 'disabled']),
  headers: z.array(z.string()).nullable().describe('Names; null if another access key encrypted them.'),
  since: z.string().describe('Position of the log behind which changes are delivered.'),
  secret: z.string().optional().describe('Signs deliveries. Only in answers that make one.'),
});
const DELIVERY = z.looseObject({
  id: z.string(),
  event: z.string(),
  state: z.enum(DELIVERY_STATES),
  body: z.unknown().optional().describe('What is sent.'),
});
const REPLAY = z.strictObject({
  delivery: z.string().optional().describe('Id of one delivery.'),
  from: z.union([z.int(), z.string()]).optional().describe('All since a position of the log.'),
});
const QUERY = z.object({
  state: z.enum(DELIVERY_STATES).optional().describe('Only these.'),
  position: z.string().optional().describe('Only those of the change at this position of the log.'),
  bodies: z.boolean().default(true).describe('false omits the bodies.'),
  limit: z.int().min(1).max(MOST_LISTED).default(100).describe('The newest ones.'),
});

/** Webhooks and their deliveries. An answer about deliveries shows those of this process. Only the leader replays. */
export const WEBHOOK_RESOURCES: readonly Resource<Parts>[] = [
  {
    name: 'listWebhooks',
    summary: 'List webhooks',
    method: 'GET',
    path: PATH,
    result: z.array(HOOK),
    run: async (parts) => ({ data: (await parts.commands.list()).map((hook) => described(parts, hook)) }),
  },
  {
    name: 'addWebhook',
    summary: 'Add a webhook',
    method: 'POST',
    path: PATH,
    body: WEBHOOK_FORM,
    result: HOOK,
    status: 201,
    async run(parts, request) {
      const parsed = parseWebhook(dataOrEmpty(request), parts.registry);
      if (parsed.kind === 'problems') throw refuseWebhook(parsed.problems);
      return shownOnce(parts, await parts.commands.add(parsed.value));
    },
  },
  {
    name: 'getWebhook',
    summary: 'Read a webhook',
    method: 'GET',
    path: `${PATH}/:id`,
    result: HOOK,
    run: async (parts, request) => ({ data: described(parts, await found(parts, request)) }),
  },
  {
    name: 'removeWebhook',
    summary: 'Remove a webhook and its deliveries',
    method: 'DELETE',
    path: `${PATH}/:id`,
    status: 204,
    async run(parts, { parameter }) {
      const { hook, position } = await parts.commands.remove(parameter('id'));
      return { data: described(parts, hook), position };
    },
  },
  change('pause', 'Let deliveries wait'),
  change('resume', 'Send what waits'),
  {
    name: 'rotateWebhook',
    summary: 'Make a new secret',
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    result: HOOK,
    run: async (parts, { parameter }) =>
      shownOnce(parts, await parts.commands.rotate(parameter('id'), KEEP_OLD_SECRET_MS)),
  },
  {
    name: 'testWebhook',
    summary: 'Send trigger-test once',
    method: 'POST',
    path: `${PATH}/:id/test`,
    run: async (parts, request) => ({
      data: await testWebhook(await found(parts, request), parts.commands, parts.limits),
    }),
  },
  {
    name: 'listDeliveries',
    summary: 'List stored deliveries, the newest first',
    method: 'GET',
    path: `${PATH}/:id/deliveries`,
    query: QUERY,
    result: z.array(DELIVERY),
    async run(parts, request) {
      const store = storeOf(parts);
      const hook = request.parameter('id') === ANY ? undefined : (await found(parts, request)).id;
      const state = stateOf(request.query.get('state'));
      const position = positionOf(request.query.get('position'));
      const limit = limitOf(request.query.get('limit'));
      const describe = hasBodies(request.query.get('bodies')) ? describeDelivery : describeWithoutBody;
      const data = store.list({ hook, state, position, limit }).map(describe);
      return { data, meta: hook === undefined ? {} : { counts: store.count(hook) } };
    },
  },
  {
    name: 'replayDeliveries',
    summary: 'Send parked deliveries again, or those that are named',
    method: 'POST',
    path: `${PATH}/:id/replay`,
    body: REPLAY,
    result: z.object({ replayed: z.int() }),
    ofLeader: true,
    async run(parts, request) {
      const store = storeOf(parts);
      const hook = await found(parts, request);
      const asked = replayOf(dataOrEmpty(request));
      const mark = () => replayDeliveries(store, hook, asked);
      const replayed = await whenUnlocked(mark, AbortSignal.timeout(LOCK_WAIT_MS)).catch(refuseLocked);
      if (asked.delivery !== undefined && replayed === 0)
        throw refuseWebhook([{ path: 'delivery', message: 'must be a stored delivery that is not waiting' }]);
      // If this leader is killed now, the next one makes the replay.
      await parts.announce?.();
      return { data: { replayed } };
    },
  },
];

function change(action: 'pause' | 'resume', summary: string): Resource<Parts> {
  return {
    name: `${action}Webhook`,
    summary,
    method: 'POST',
    path: `${PATH}/:id/${action}`,
    result: HOOK,
    async run(parts, { parameter }) {
      const { hook, position } = await parts.commands[action](parameter('id'));
      return { data: described(parts, hook), position };
    },
  };
}

function described({ commands, store }: Parts, hook: Webhook) {
  return describeWebhook(hook, commands, store);
}

function found({ commands }: Parts, { parameter }: ResourceRequest): Promise<Webhook> {
  return commands.find(parameter('id'));
}

function shownOnce(
  parts: Parts,
  { hook, secret, position }: Awaited<ReturnType<WebhookCommands['add']>>,
): ResourceResult {
  return { data: { ...described(parts, hook), secret }, meta: SHOWN_ONCE, position };
}

function storeOf({ store }: Parts): DeliveryStore {
  if (store !== undefined) return store;
  throw new RequestError('not-supported', 'This process has no deliveries: ask the leader', {
    accepted: "nothing: 'varve api' delivers nothing; ask 'varve project' or 'varve serve'",
  });
}

/** Another process, such as a shell of SQLite, has locked the file of deliveries for long. */
function refuseLocked(error: unknown): never {
  if (!isBusy(error)) throw error;
  throw new RequestError('busy', 'Another process has locked the deliveries of webhooks: try again');
}

/** Returns the member `data` of a body, or an empty object if there is no body. */
function dataOrEmpty({ hasBody, data }: ResourceRequest): unknown {
  return hasBody ? data : {};
}

function stateOf(text: string | null): DeliveryState | undefined {
  if (text === null) return undefined;
  const state = DELIVERY_STATES.find((each) => each === text);
  if (state !== undefined) return state;
  throw refuseWebhook([
    { path: 'state', message: `must be one of ${DELIVERY_STATES.join(', ')}, got "${text}"` },
  ]);
}

function positionOf(text: string | null): string | undefined {
  if (text === null || isLogPosition(text)) return text ?? undefined;
  throw refuseWebhook([{ path: 'position', message: `must be a position of the log, got "${text}"` }]);
}

function hasBodies(text: string | null): boolean {
  if (text === null || text === 'true' || text === 'false') return text !== 'false';
  throw refuseWebhook([{ path: 'bodies', message: `must be true or false, got "${text}"` }]);
}

function limitOf(text: string | null): number {
  if (text === null) return 100;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MOST_LISTED) return Number(text);
  throw refuseWebhook([{ path: 'limit', message: `must be from 1 to ${MOST_LISTED}, got "${text}"` }]);
}

function replayOf(data: unknown): { readonly delivery?: string; readonly from?: bigint } {
  if (!isRecord(data)) throw refuseWebhook([{ path: 'data', message: 'must be an object' }]);
  const { delivery, from, ...others } = data;
  const problems: FormProblem[] = Object.keys(others).map((path) => ({ path, message: 'is unknown' }));
  if (delivery !== undefined && typeof delivery !== 'string')
    problems.push({ path: 'delivery', message: 'must be the id of a delivery' });
  if (from !== undefined && !isLogPosition(from))
    problems.push({ path: 'from', message: 'must be a position of the log' });
  if (delivery !== undefined && from !== undefined)
    problems.push({ path: 'from', message: 'cannot be together with delivery' });
  if (problems.length > 0) throw refuseWebhook(problems);
  if (delivery !== undefined) return { delivery: String(delivery) };
  return from === undefined ? {} : { from: BigInt(String(from)) };
}

function refuseWebhook(problems: readonly FormProblem[]): RequestError {
  return refusedForm(problems, 'invalid-webhook');
}
