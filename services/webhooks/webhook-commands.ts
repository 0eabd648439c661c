import type { EventMetadata, EventStore } from '../../shared/event-store/event-store.ts';
import { readStreamState } from '../../shared/event-store/watch-stream.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { randomId } from '../../shared/random-id.ts';
import { RequestError } from '../../shared/request-error.ts';
import {
  type WebhookDefined,
  type WebhookLogEvent,
  webhookStream,
} from '../../shared/webhooks/webhook-events.ts';
import {
  evolveWebhooks,
  NO_WEBHOOKS,
  type Webhook,
  type WebhookState,
} from '../../shared/webhooks/webhook-state.ts';
import type { WebhookRequest } from './webhook-request.ts';
import { newWebhookSecret, type Sealed, seal, unseal } from './webhook-secret.ts';

export type WebhookCommandsOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Encrypts secrets, see webhookKey. */
  readonly key: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly author: () => Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId'>;
};

/** A stored change. It is in force from `position` on. */
export type ChangedWebhook = { readonly hook: Webhook; readonly position: bigint };
type WithSecret = { readonly secret: string };

/** Every process may write webhooks. A hook is named by its id or name; throws RequestError (404) if there is none. */
export type WebhookCommands = ReturnType<typeof createWebhookCommands>;

const ATTEMPTS = 10;

/**
 * Creates commands on the webhooks of a log. A command reads the webhooks first, and repeats if another process changed them meanwhile.
 * After ten attempts it throws RequestError.
 */
export function createWebhookCommands(options: WebhookCommandsOptions) {
  const { log, space, key, now } = options;
  const commit = async (
    via: string,
    decide: (state: WebhookState) => { readonly event: WebhookLogEvent; readonly id: string },
  ): Promise<ChangedWebhook> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await readWebhooks(log, space);
      const { event, id } = decide(before);
      const position = await appendWebhookEvent(options, before, event, via);
      if (position === undefined) continue;
      const hook = (await readWebhooks(log, space)).hooks.get(id) ?? before.hooks.get(id);
      if (hook === undefined) throw new Error(`the webhook ${id} was not stored`);
      return { hook, position };
    }
    throw new RequestError('rights-contended', 'Webhooks are being changed by others, try again');
  };
  const change = (via: string, name: string, changes: (hook: Webhook) => Partial<WebhookDefined['data']>) =>
    commit(via, (state) => {
      const hook = findWebhook(state, name);
      return {
        id: hook.id,
        event: { type: 'webhook-defined', data: { ...definitionOf(hook), ...changes(hook) } },
      };
    });
  return {
    /** Returns the secret, which is never shown again. */
    async add({ headers, ...request }: WebhookRequest): Promise<ChangedWebhook & WithSecret> {
      const secret = newWebhookSecret();
      const id = randomId();
      const sealed = seal(key, id, { secrets: [{ secret, until: null }], headers });
      const stored = await commit('add-webhook', (state) => {
        refuseTakenWebhook(state, request.name);
        const data = { id, ...request, sealed, status: 'active', reason: null } as const;
        return { id, event: { type: 'webhook-defined', data } };
      });
      return { ...stored, secret };
    },
    pause: (name: string) => change('pause-webhook', name, () => ({ status: 'paused' })),
    resume: (name: string) => change('resume-webhook', name, () => ({ status: 'active', reason: null })),
    /** Varve itself disables a hook whose receiver says that it is gone. */
    disable: (name: string, reason: string) =>
      change('disable-webhook', name, () => ({ status: 'disabled', reason })),
    /** Makes a new secret. For `keepMs` earlier secrets sign too. */
    async rotate(name: string, keepMs: number): Promise<ChangedWebhook & WithSecret> {
      const secret = newWebhookSecret();
      const stored = await change('rotate-webhook', name, (hook) => {
        const { secrets, headers } = unseal(key, hook.id, hook.sealed);
        const until = now() + keepMs;
        const kept = secrets
          .filter((each) => each.until === null || each.until > now())
          .map((each) => ({ secret: each.secret, until: Math.min(each.until ?? until, until) }));
        return { sealed: seal(key, hook.id, { secrets: [{ secret, until: null }, ...kept], headers }) };
      });
      return { ...stored, secret };
    },
    remove: (name: string) =>
      commit('remove-webhook', (state) => {
        const { id } = findWebhook(state, name);
        return { id, event: { type: 'webhook-removed', data: { id } } };
      }),
    list: async (): Promise<readonly Webhook[]> => [...(await readWebhooks(log, space)).hooks.values()],
    find: async (name: string) => findWebhook(await readWebhooks(log, space), name),
    open: (hook: Webhook): Sealed => unseal(key, hook.id, hook.sealed),
  };
}

/** The webhooks at the end of the log. */
export function readWebhooks(log: EventStore, space: string): Promise<WebhookState> {
  return readStreamState(log.readStream(webhookStream(space)), NO_WEBHOOKS, evolveWebhooks);
}

/** Resolves with the event's position; undefined if another event came first. */
async function appendWebhookEvent(
  { log, space, now, author }: Omit<WebhookCommandsOptions, 'key'>,
  { revision }: WebhookState,
  event: WebhookLogEvent,
  via: string,
): Promise<bigint | undefined> {
  const at = new Date(now()).toISOString();
  const stored = newEvent(event, { at, epoch: 0, ...author(), via });
  const appended = await log.append(webhookStream(space), revision ?? 'none', [stored]);
  return appended.kind === 'appended' ? appended.position : undefined;
}

function definitionOf({ createdAt: _createdAt, since: _since, ...data }: Webhook): WebhookDefined['data'] {
  return data;
}

function findWebhook({ hooks }: WebhookState, name: string): Webhook {
  const hook = hooks.get(name) ?? [...hooks.values()].find((each) => each.name === name);
  if (hook !== undefined) return hook;
  throw new RequestError('webhook-not-found', `Unknown webhook "${name}"`);
}

function refuseTakenWebhook({ hooks }: WebhookState, name: string): void {
  if (![...hooks.values()].some((hook) => hook.name === name)) return;
  throw new RequestError('webhook-name-taken', `There is a webhook called "${name}": pass another name`, {
    path: 'name',
    found: name,
  });
}
