import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { isDamagedAtOpen } from '../../../shared/sqlite/failures.ts';
import { DELIVERY_STATES, MOST_LISTED } from '../../../shared/webhooks/delivery-state.ts';
import { lookAtAccessKey, openAccessKey } from '../../access/access-key.ts';
import { webhookKey } from '../../access/derived-keys.ts';
import { requestOrOperator } from '../../command/current-author.ts';
import { readLease } from '../../fleet/lease-view.ts';
import { probeLeader } from '../../fleet/probe-leader.ts';
import { LEADER_TIMEOUTS } from '../../fleet/watch-leader.ts';
import { logFolder } from '../../stores/open-event-store.ts';
import { type DeliveryStore, openDeliveryStore, WEBHOOKS_FILE } from '../../webhooks/delivery-store.ts';
import {
  type DescribedWebhook,
  describeDelivery,
  describeWebhook,
  replayDeliveries,
  testWebhook,
} from '../../webhooks/describe-webhook.ts';
import { lookAtDeliveries } from '../../webhooks/look-at-deliveries.ts';
import { createWebhookCommands, type WebhookCommands } from '../../webhooks/webhook-commands.ts';
import { KEEP_OLD_SECRET_MS, WEBHOOK_LIMITS } from '../../webhooks/webhook-limits.ts';
import { isLogPosition, parseWebhook } from '../../webhooks/webhook-request.ts';
import { textTable } from '../output/text-table.ts';
import { lookAtLogOf, requireLog, withLog } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type WebhookCommandSettings } from '../settings/settings.ts';

type Settings = WebhookCommandSettings;

/** Options of `varve webhook add`. */
export type WebhookOptions = JsonOption & {
  readonly name?: string;
  readonly events?: string;
  readonly types?: string;
  readonly locales?: string;
  readonly populate?: string;
  readonly header?: readonly string[];
  readonly allowPrivate?: true;
};

/** Parts of a webhook that have another name on the command line. */
const OPTION_OF: Readonly<Record<string, string>> = { url: '<url>', headers: '--header' };

/**
 * `varve webhook add`: writes the secret alone to stdout, for scripts, and its description to stderr. A running server
 * delivers from then on, because it reads the same log.
 */
export async function addWebhook(settings: Settings, options: WebhookOptions, url: string): Promise<void> {
  const { json, header = [], allowPrivate = false, ...rest } = options;
  const parsed = parseWebhook({ ...rest, url, allowPrivate, headers: headersOf(header) }, undefined);
  if (parsed.kind === 'problems')
    throw new InvalidSettings(
      ...parsed.problems.map(({ path, message }) => `${OPTION_OF[path] ?? `--${path}`} ${message}`),
    );
  await withWebhooks(settings, async (commands) => {
    const { hook, secret } = await commands.add(parsed.value);
    if (json === true) return printJson({ ...describeWebhook(hook, commands, undefined), secret });
    console.error(`Webhook "${hook.name}" (${hook.id}) is active. Its secret is shown only once:`);
    console.log(secret);
  });
}

/** `varve webhook list` */
export async function listWebhooks(settings: Settings, { json }: JsonOption): Promise<void> {
  await lookAtWebhooks(settings, async (commands) => {
    const store = openStore(settings, lookAtDeliveries);
    try {
      const hooks = (await commands.list()).map((hook) => describeWebhook(hook, commands, store));
      if (json === true) printJson(hooks);
      else if (hooks.length === 0) console.error('There are no webhooks.');
      else console.log(textTable([HOOK_COLUMNS, ...hooks.map(columnsOf)]));
    } finally {
      store?.close();
    }
  });
}

const HOOK_COLUMNS = ['ID', 'NAME', 'STATUS', 'WAITING', 'PARKED', 'URL', 'EVENTS', 'TYPES'];

function columnsOf(hook: DescribedWebhook): readonly string[] {
  const { id, name, status, reason, url, events, types, deliveries } = hook;
  const counts = [deliveries?.waiting, deliveries?.parked].map((count) => String(count ?? '-'));
  const shown = reason === null ? status : `${status} (${reason})`;
  return [id, name, shown, ...counts, url, events.join(', '), types.join(', ') || 'all'];
}

/** `varve webhook pause` */
export async function pauseWebhook(settings: Settings, _options: object, name: string): Promise<void> {
  const { hook } = await withWebhooks(settings, (commands) => commands.pause(name));
  console.error(`Webhook "${hook.name}" is paused: deliveries wait until varve webhook resume.`);
}

/** `varve webhook resume` */
export async function resumeWebhook(settings: Settings, _options: object, name: string): Promise<void> {
  const { hook } = await withWebhooks(settings, (commands) => commands.resume(name));
  console.error(`Webhook "${hook.name}" is active.`);
}

/** `varve webhook remove` */
export async function removeWebhook(settings: Settings, _options: object, name: string): Promise<void> {
  const { hook } = await withWebhooks(settings, (commands) => commands.remove(name));
  console.error(`Webhook "${hook.name}" (${hook.id}) is removed.`);
}

/** `varve webhook rotate`: creates a new secret. For a day, deliveries are also signed with the earlier one. */
export async function rotateWebhook(settings: Settings, { json }: JsonOption, name: string): Promise<void> {
  await withWebhooks(settings, async (commands) => {
    const { hook, secret } = await commands.rotate(name, KEEP_OLD_SECRET_MS);
    if (json === true) return printJson({ ...describeWebhook(hook, commands, undefined), secret });
    console.error(
      `Webhook "${hook.name}" has a new secret, which is shown only once. For a day, deliveries are also signed with the earlier one:`,
    );
    console.log(secret);
  });
}

/** `varve webhook test`: sends `trigger-test` from here. Fails if the receiver does not answer 2xx. */
export async function testReceiver(settings: Settings, { json }: JsonOption, name: string): Promise<void> {
  const result = await withWebhooks(settings, async (commands) =>
    testWebhook(await commands.find(name), commands, WEBHOOK_LIMITS),
  );
  if (json === true) printJson(result);
  const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300;
  if (!isDelivered) {
    const reason = result.kind === 'answered' ? `the receiver answered ${result.status}` : result.reason;
    throw new Error(`the test was not delivered: ${reason}`);
  }
  console.error(`The receiver answered ${result.status}.`);
}

export type DeliveriesOptions = JsonOption & { readonly state?: string };

/** `varve webhook deliveries`: lists the deliveries that the server of the data directory has made, newest first. */
export async function listDeliveries(
  settings: Settings,
  { json, state }: DeliveriesOptions,
  name: string | undefined,
): Promise<void> {
  const wanted = DELIVERY_STATES.find((each) => each === state);
  if (state !== undefined && wanted === undefined)
    throw new InvalidSettings(`--state must be one of ${DELIVERY_STATES.join(', ')}, got "${state}"`);
  const hook =
    name === undefined
      ? undefined
      : await lookAtWebhooks(settings, async (commands) => (await commands.find(name)).id);
  const store = requireStore(settings, lookAtDeliveries);
  try {
    const found = store.list({ hook, state: wanted, limit: MOST_LISTED }).map(describeDelivery);
    if (json === true) printJson(found);
    else if (found.length === 0) console.error('There are no deliveries.');
    else {
      const rows = found.map(({ id, event, state: now, attempts, status, error, createdAt }) => [
        ...[id, event, now, String(attempts), String(status ?? '-'), createdAt, error ?? ''],
      ]);
      console.log(textTable([['ID', 'EVENT', 'STATE', 'ATTEMPTS', 'STATUS', 'CREATED', 'ERROR'], ...rows]));
    }
  } finally {
    store.close();
  }
}

export type ReplayOptions = { readonly delivery?: string; readonly from?: string };

/** `varve webhook replay` sends deliveries again. These are the parked ones, a single one, or all since a position. */
export async function replayWebhook(
  settings: Settings,
  { delivery, from }: ReplayOptions,
  name: string,
): Promise<void> {
  if (from !== undefined && !isLogPosition(from))
    throw new InvalidSettings(`--from must be a position of the log, got "${from}"`);
  if (from !== undefined && delivery !== undefined)
    throw new InvalidSettings('--from cannot be used together with --delivery: omit one of them');
  const store = requireStore(settings, openDeliveryStore);
  try {
    const hook = await withWebhooks(settings, async (commands, log) => {
      const found = await commands.find(name);
      await refuseWhereAnotherLeads(log, settings, store);
      return found;
    });
    const request = { delivery, from: from === undefined ? undefined : BigInt(from) };
    const count = replayDeliveries(store, hook, request);
    if (delivery !== undefined && count === 0)
      throw new Error(`found no delivery "${delivery}" of this webhook that could be sent again`);
    const more = from === undefined ? '' : '; the server creates those that are no longer stored again';
    console.error(`${count} stored deliveries will be sent again${more}.`);
  } finally {
    store.close();
  }
}

async function withWebhooks<Result>(
  settings: Settings,
  use: (commands: WebhookCommands, log: EventStore) => Promise<Result>,
): Promise<Result> {
  requireLog(settings);
  const { space, accessKey: given } = settings;
  return withLog(settings, async (log) => {
    const key = webhookKey(await openAccessKey({ log, space, folder: logFolder(settings), given }));
    return use(createWebhookCommands({ log, space, key, now: Date.now, author: requestOrOperator }), log);
  });
}

/** Runs `use` on the webhooks and changes nothing. Without the access key the names of headers are unknown. */
function lookAtWebhooks<Result>(
  settings: Settings,
  use: (commands: WebhookCommands) => Promise<Result>,
): Promise<Result> {
  requireLog(settings);
  const { space, accessKey: given } = settings;
  const found = lookAtAccessKey(logFolder(settings), given);
  const key = found === undefined ? NO_KEY : webhookKey(found);
  return lookAtLogOf(settings, (log) =>
    use(createWebhookCommands({ log, space, key, now: Date.now, author: requestOrOperator })),
  );
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

/** Opens the stored deliveries; undefined if no server has made any in the data directory. */
function openStore<Store>({ data }: Settings, open: (folder: string) => Store): Store | undefined {
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

function requireStore<Store>(settings: Settings, open: (folder: string) => Store): Store {
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
