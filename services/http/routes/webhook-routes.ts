import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FormProblem } from '../../../shared/form-problems.ts';
import { isRecord } from '../../../shared/json-record.ts';
import { refusedForm } from '../../../shared/refused-form.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { isBusy } from '../../../shared/sqlite/failures.ts';
import { whenUnlocked } from '../../../shared/sqlite/when-unlocked.ts';
import { DELIVERY_STATES, type DeliveryState, MOST_LISTED } from '../../../shared/webhooks/delivery-state.ts';
import type { Webhook } from '../../../shared/webhooks/webhook-state.ts';
import { NotLeading } from '../../command/not-leading.ts';
import type { DeliveryStore } from '../../webhooks/delivery-store.ts';
import {
  describeDelivery,
  describeWebhook,
  replayDeliveries,
  testWebhook,
} from '../../webhooks/describe-webhook.ts';
import type { WebhookCommands } from '../../webhooks/webhook-commands.ts';
import { KEEP_OLD_SECRET_MS, type WebhookLimits } from '../../webhooks/webhook-limits.ts';
import { isLogPosition, parseWebhook } from '../../webhooks/webhook-request.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { idOf, queryOf, register } from './entry-routes.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { dataOf } from './resource-routes.ts';
import { sendData } from './send-data.ts';

export type ServedWebhooks = {
  readonly commands: WebhookCommands;
  readonly limits: WebhookLimits;
  /** Absent: this process never delivers. */
  readonly store?: DeliveryStore;
  /** Writes requested replays to the log, for the next leader. */
  readonly announce?: () => Promise<void>;
};

const LOCK_WAIT_MS = 5_000;
const DELIVERIES_PATH = '/_varve/webhooks/:id/deliveries';
const REPLAY_PATH = '/_varve/webhooks/:id/replay';
const OF_DELIVERIES = { parameters: ['state', 'limit'] };
const SHOWN_ONCE = { secret: 'is shown once; receivers verify signatures with it' };

/**
 * Registers `/_varve/webhooks`: the functions of `varve webhook`. An answer about deliveries shows those of this process. Only the leader
 * replays: other processes forward the request to it.
 */
export function registerWebhooks(
  app: FastifyInstance,
  registry: SchemaRegistry,
  webhooks: ServedWebhooks,
): void {
  const { commands, limits, store } = webhooks;
  const found = (request: FastifyRequest) => commands.find(idOf(request));
  const describe = (hook: Webhook) => describeWebhook(hook, commands, store);
  const path = '/_varve/webhooks';
  const change = (url: string, run: (name: string) => ReturnType<WebhookCommands['pause']>) =>
    register(app, `${path}/:id/${url}`, {
      POST: async (request, reply) => {
        const { hook, position } = await run(idOf(request));
        sendData(reply, describe(hook), { position });
      },
    });
  register(app, path, {
    config: WITH_DATA,
    GET: async (_request, reply) => sendData(reply, (await commands.list()).map(describe)),
    POST: async (request, reply) => {
      const parsed = parseWebhook(dataOrEmpty(request), registry);
      if (parsed.kind === 'problems') throw refuseWebhook(parsed.problems);
      const { hook, secret, position } = await commands.add(parsed.value);
      sendData(reply, { ...describe(hook), secret }, { status: 201, meta: SHOWN_ONCE, position });
    },
  });
  register(app, `${path}/:id`, {
    GET: async (request, reply) => sendData(reply, describe(await found(request))),
    DELETE: async (request, reply) => {
      const { position } = await commands.remove(idOf(request));
      reply.header(POSITION_HEADER, String(position)).code(204).headers(SECURITY_HEADERS).send();
    },
  });
  change('pause', commands.pause);
  change('resume', commands.resume);
  register(app, `${path}/:id/rotate`, {
    POST: async (request, reply) => {
      const { hook, secret, position } = await commands.rotate(idOf(request), KEEP_OLD_SECRET_MS);
      sendData(reply, { ...describe(hook), secret }, { meta: SHOWN_ONCE, position });
    },
  });
  register(app, `${path}/:id/test`, {
    POST: async (request, reply) =>
      sendData(reply, await testWebhook(await found(request), commands, limits)),
  });
  if (store !== undefined) registerDeliveries(app, webhooks, store);
  else refuseDeliveries(app);
}

function refuseDeliveries(app: FastifyInstance): void {
  const refuse = async () => {
    throw new RequestError('not-supported', 'This process has no deliveries: ask the leader', {
      accepted: "nothing: 'varve api' delivers nothing; ask 'varve project' or 'varve serve'",
    });
  };
  register(app, DELIVERIES_PATH, { config: OF_DELIVERIES, GET: refuse });
  register(app, REPLAY_PATH, { config: WITH_DATA, POST: refuse });
}

function registerDeliveries(
  app: FastifyInstance,
  { commands, announce }: ServedWebhooks,
  store: DeliveryStore,
): void {
  register(app, DELIVERIES_PATH, {
    config: OF_DELIVERIES,
    GET: async (request, reply) => {
      const { id } = await commands.find(idOf(request));
      const query = new URLSearchParams(queryOf(request));
      const state = stateOf(query.get('state'));
      const limit = limitOf(query.get('limit'));
      const data = store.list({ hook: id, state, limit }).map(describeDelivery);
      sendData(reply, data, { meta: { counts: store.count(id) } });
    },
  });
  register(app, REPLAY_PATH, {
    config: { ...WITH_DATA, isOfLeader: true },
    POST: async (request, reply) => {
      const hook = await commands.find(idOf(request));
      const asked = replayOf(dataOrEmpty(request));
      if (request.isElsewhere) throw new NotLeading();
      const mark = () => replayDeliveries(store, hook, asked);
      const replayed = await whenUnlocked(mark, AbortSignal.timeout(LOCK_WAIT_MS)).catch(refuseLocked);
      if (asked.delivery !== undefined && replayed === 0)
        throw refuseWebhook([{ path: 'delivery', message: 'must be a stored delivery that is not waiting' }]);
      // If this leader is killed now, the next one makes the replay.
      await announce?.();
      sendData(reply, { replayed });
    },
  });
}

/** Another process, such as a shell of SQLite, has locked the file of deliveries for long. */
function refuseLocked(error: unknown): never {
  if (!isBusy(error)) throw error;
  throw new RequestError('busy', 'Another process has locked the deliveries of webhooks: try again');
}

/** Returns the member `data` of a body, or an empty object if there is no body. */
function dataOrEmpty(request: Pick<FastifyRequest, 'body'>): unknown {
  return request.body === undefined ? {} : dataOf(request);
}

function stateOf(text: string | null): DeliveryState | undefined {
  if (text === null) return undefined;
  const state = DELIVERY_STATES.find((each) => each === text);
  if (state !== undefined) return state;
  throw refuseWebhook([
    { path: 'state', message: `must be one of ${DELIVERY_STATES.join(', ')}, got "${text}"` },
  ]);
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
