import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../shared/defined.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { isDamagedAtOpen } from '../../../shared/sqlite/failures.ts';
import { MOST_LISTED } from '../../../shared/webhooks/delivery-state.ts';
import { lookAtAccessKey, openAccessKey } from '../../access/access-key.ts';
import { webhookKey } from '../../access/derived-keys.ts';
import { requestOrOperator } from '../../command/current-author.ts';
import { readLease } from '../../fleet/lease-view.ts';
import { probeLeader } from '../../fleet/probe-leader.ts';
import { LEADER_TIMEOUTS } from '../../fleet/watch-leader.ts';
import type { PostResult } from '../../outbox/post-request.ts';
import { logFolder } from '../../stores/open-event-store.ts';
import { type DeliveryStore, openDeliveryStore, WEBHOOKS_FILE } from '../../webhooks/delivery-store.ts';
import type { DescribedDelivery, DescribedWebhook } from '../../webhooks/describe-webhook.ts';
import { lookAtDeliveries } from '../../webhooks/look-at-deliveries.ts';
import { createWebhookCommands } from '../../webhooks/webhook-commands.ts';
import { WEBHOOK_LIMITS } from '../../webhooks/webhook-limits.ts';
import { parseWebhook } from '../../webhooks/webhook-request.ts';
import { ANY, WEBHOOK_RESOURCES } from '../../webhooks/webhook-resources.ts';
import { textTable } from '../output/text-table.ts';
import { lookAtLogOf, requireLog, withLog } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type WebhookCommandSettings } from '../settings/settings.ts';
import { type ResourceCommand, refusedOptions, resourceOf, runResource } from './run-resource.ts';

type Settings = WebhookCommandSettings;

/** Options of `varve webhook add`. The others are members of the resource's form. */
type WebhookOptions = JsonOption & { readonly header?: readonly string[]; readonly allowPrivate?: true };

/**
 * `varve webhook add`: writes the secret alone to stdout, for scripts, and its description to stderr. A running server
 * delivers from then on, because it reads the same log.
 */
export async function addWebhook(settings: Settings, options: WebhookOptions, url: string): Promise<void> {
  const { json, header = [], allowPrivate = false, ...rest } = options;
  const data = { ...rest, url, allowPrivate, headers: headersOf(header) };
  // A wrong option is refused before the log is opened and gets a key.
  const parsed = parseWebhook(data, undefined);
  if (parsed.kind === 'problems') throw refusedOptions(parsed.problems);
  presentChange('addWebhook', await run(settings, 'addWebhook', { data }), json);
}

type Changed = Pick<DescribedWebhook, 'id' | 'name'> & { readonly secret?: string };

/** Words for people about the webhook of an answer. */
const WORDS = {
  addWebhook: ({ name, id }: Changed) =>
    `Webhook "${name}" (${id}) is active. Its secret is shown only once:`,
  pauseWebhook: ({ name }: Changed) =>
    `Webhook "${name}" is paused: deliveries wait until varve webhook resume.`,
  resumeWebhook: ({ name }: Changed) => `Webhook "${name}" is active.`,
  removeWebhook: ({ name, id }: Changed) => `Webhook "${name}" (${id}) is removed.`,
  rotateWebhook: ({ name }: Changed) =>
    `Webhook "${name}" has a new secret, which is shown only once. For a day, deliveries are also signed with the earlier one:`,
};

/** Returns the command that changes a webhook: pauses, resumes or removes it, or makes a new secret. */
export function changeWebhook(name: keyof typeof WORDS) {
  return async (settings: Settings, { json }: JsonOption, id: string): Promise<void> =>
    presentChange(name, await run(settings, name, { id }), json);
}

function presentChange(name: keyof typeof WORDS, answer: unknown, json: true | undefined): void {
  const hook = answer as Changed;
  if (json === true) printJson(hook);
  else console.error(WORDS[name](hook));
  if (json !== true && hook.secret !== undefined) console.log(hook.secret);
}

/** `varve webhook list` */
export async function listWebhooks(settings: Settings, { json }: JsonOption): Promise<void> {
  const answer = await run(settings, 'listWebhooks', { store: openStore(settings, lookAtDeliveries) });
  const hooks = answer as readonly DescribedWebhook[];
  if (json === true) printJson(hooks);
  else if (hooks.length === 0) console.error('There are no webhooks.');
  else console.log(textTable([HOOK_COLUMNS, ...hooks.map(columnsOf)]));
}

const HOOK_COLUMNS = ['ID', 'NAME', 'STATUS', 'WAITING', 'PARKED', 'URL', 'EVENTS', 'TYPES'];

function columnsOf(hook: DescribedWebhook): readonly string[] {
  const { id, name, status, reason, url, events, types, deliveries } = hook;
  const counts = [deliveries?.waiting, deliveries?.parked].map((count) => String(count ?? '-'));
  const shown = reason === null ? status : `${status} (${reason})`;
  return [id, name, shown, ...counts, url, events.join(', '), types.join(', ') || 'all'];
}

/** `varve webhook test`: sends `trigger-test` from here. Fails if the receiver does not answer 2xx. */
export async function testReceiver(settings: Settings, { json }: JsonOption, id: string): Promise<void> {
  const result = (await run(settings, 'testWebhook', { id })) as PostResult;
  if (json === true) printJson(result);
  const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300;
  if (!isDelivered) {
    const reason = result.kind === 'answered' ? `the receiver answered ${result.status}` : result.reason;
    throw new Error(`the test was not delivered: ${reason}`);
  }
  console.error(`The receiver answered ${result.status}.`);
}

/** `varve webhook deliveries`: lists the deliveries that the server of the data directory has made, newest first. */
export async function listDeliveries(
  settings: Settings,
  { json, state }: JsonOption & { readonly state?: string },
  id: string = ANY,
): Promise<void> {
  const query = { limit: String(MOST_LISTED), ...defined({ state }) };
  const store = requireStore(settings, lookAtDeliveries);
  const found = (await run(settings, 'listDeliveries', { id, query, store })) as DescribedDelivery[];
  if (json === true) return printJson(found);
  if (found.length === 0) return console.error('There are no deliveries.');
  const rows = found.map(({ id: delivery, event, state: now, attempts, status, error, createdAt }) => [
    ...[delivery, event, now, String(attempts), String(status ?? '-'), createdAt, error ?? ''],
  ]);
  console.log(textTable([['ID', 'EVENT', 'STATE', 'ATTEMPTS', 'STATUS', 'CREATED', 'ERROR'], ...rows]));
}

/** `varve webhook replay` sends deliveries again. These are the parked ones, a single one, or all since a position. */
export async function replayWebhook(
  settings: Settings,
  data: { readonly delivery?: string; readonly from?: string },
  id: string,
): Promise<void> {
  const store = requireStore(settings, openDeliveryStore);
  const ready = (log: EventStore) => refuseWhereAnotherLeads(log, settings, store);
  const answer = await run(settings, 'replayDeliveries', { id, data, store, ready });
  const { replayed } = answer as { readonly replayed: number };
  const more = data.from === undefined ? '' : '; the server creates those that are no longer stored again';
  console.error(`${replayed} stored deliveries will be sent again${more}.`);
}

type Work = ResourceCommand & {
  /** Closed afterwards. */
  readonly store?: DeliveryStore | undefined;
  /** Called when the log is open. */
  readonly ready?: (log: EventStore) => Promise<void>;
};

/** Runs a resource on the log. One that only reads changes nothing. Without the access key it does not know the names of headers. */
async function run(settings: Settings, name: string, { store, ready, ...command }: Work): Promise<unknown> {
  const { space, accessKey: given } = settings;
  const folder = logFolder(settings);
  const resource = resourceOf(WEBHOOK_RESOURCES, name);
  const looks = resource.method === 'GET';
  const use = async (log: EventStore) => {
    const access = looks
      ? lookAtAccessKey(folder, given)
      : await openAccessKey({ log, space, folder, given });
    const key = access === undefined ? NO_KEY : webhookKey(access);
    await ready?.(log);
    const commands = createWebhookCommands({ log, space, key, now: Date.now, author: requestOrOperator });
    const parts = { commands, limits: WEBHOOK_LIMITS, registry: undefined, ...defined({ store }) };
    return runResource(resource, parts, command);
  };
  try {
    requireLog(settings);
    return await (looks ? lookAtLogOf : withLog)(settings, use);
  } finally {
    store?.close();
  }
}

/** A key that encrypted nothing. */
const NO_KEY = Buffer.alloc(0);

/**
 * Throws a message if another process is the leader. Only the leader delivers, so a replay would wait until the server of this directory is
 * the leader.
 */
async function refuseWhereAnotherLeads(
  log: EventStore,
  { data, space }: Settings,
  store: DeliveryStore,
): Promise<void> {
  const { leader, epoch } = await readLease(log, space);
  if (leader === undefined || store.term() === epoch) return;
  if ((await probeLeader(leader, LEADER_TIMEOUTS.silence, undefined)) === 'gone') return;
  throw new Error(
    `the server of ${data} does not deliver webhooks, because the leader is ${leader.address}: pass --data of the leader, or send POST /_varve/webhooks/<id>/replay to any server of the log`,
  );
}

type OpenStore = (folder: string) => DeliveryStore;

/** Opens the stored deliveries; undefined if no server has made any in the data directory. */
function openStore({ data }: Settings, open: OpenStore): DeliveryStore | undefined {
  const file = join(data, WEBHOOKS_FILE);
  if (!existsSync(file)) return undefined;
  try {
    return open(data);
  } catch (error) {
    if (!isDamagedAtOpen(error)) throw error;
    const advice = 'start the server again, which replaces it: unfinished deliveries are sent again';
    throw new Error(`${file}, which has the deliveries of webhooks, is damaged: ${advice}`, { cause: error });
  }
}

function requireStore(settings: Settings, open: OpenStore): DeliveryStore {
  const store = openStore(settings, open);
  if (store !== undefined) return store;
  throw new Error(`no server has made deliveries in ${settings.data}: pass --data of the leader`);
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      if (at < 1) throw new InvalidSettings(`--header must be like "Name: value", got "${line}"`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
