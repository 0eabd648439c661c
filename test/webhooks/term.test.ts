import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Varve } from '../../services/process/open-varve.ts';
import type { DeliveryStore } from '../../services/webhooks/delivery-store.ts';
import type { WebhookCommands } from '../../services/webhooks/webhook-commands.ts';
import { WEBHOOK_LIMITS, type WebhookLimits } from '../../services/webhooks/webhook-limits.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import type {
  ProgressMetadata,
  WebhookEventName,
  WebhooksProgressed,
} from '../../shared/webhooks/webhook-events.ts';
import { webhookProgressStream } from '../../shared/webhooks/webhook-events.ts';
import { createDataDirectory } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type OptionsForTest, openInProcess } from '../support/varve-in-process.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000, interval: 20 };
const HOUR_MS = 3_600_000;
/** Number of events that a term reads at once. */
const BATCH = 100;

type Opened = { readonly varve: Varve; readonly commands: WebhookCommands; readonly store: DeliveryStore };

async function open(
  data: string,
  limits: Partial<WebhookLimits> = {},
  options: OptionsForTest & { readonly failed?: (error: unknown) => void } = {},
): Promise<Opened> {
  const fail = (error: unknown) => {
    throw error;
  };
  const report = { attempted: () => {}, replaced: () => {}, error: options.failed ?? fail };
  const webhooksOptions = { limits: { ...WEBHOOK_LIMITS, ...limits }, report };
  const varve = await openInProcess(data, { ...options, webhooks: webhooksOptions });
  const { webhooks } = varve;
  if (webhooks?.store === undefined) throw new Error('it has no deliveries');
  return { varve, commands: webhooks.commands, store: webhooks.store };
}

const addHook = (
  { commands }: Opened,
  { url }: Receiver,
  events: readonly WebhookEventName[],
  name = 'hook',
) =>
  commands.add({
    ...{ name, url, events, types: [], locales: [], populate: '' },
    ...{ headers: {}, allowPrivate: true },
  });

function writerOf({ registry, apiFor }: Varve) {
  const { content } = apiFor(FULL_ACCESS);
  const typeOf = (name: string) => {
    const type = [...registry.contentTypes.values()].find(({ singularName }) => singularName === name);
    if (type === undefined) throw new Error(`there is no ${name}`);
    return type;
  };
  return {
    content,
    article: typeOf('article'),
    createTag: (key: string) => content.create(typeOf('tag'), '', { data: { key } }),
    /** Writes an article in two locales, and deletes both at once: six events. */
    async passingArticle(key: string): Promise<void> {
      const article = typeOf('article');
      const { documentId } = await content.create(article, 'locale=en', { data: { key, title: key } });
      await content.update({ type: article, documentId }, 'locale=it', { data: { title: key } });
      await content.remove({ type: article, documentId }, 'locale=*');
    },
  };
}

async function startReceiving(): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  return receiver;
}

/** Makes the receiver accept all deliveries. Returns the set of their ids. */
function acceptIn(receiver: Receiver): ReadonlySet<string> {
  const accepted = new Set<string>();
  receiver.answer(({ id }) => {
    accepted.add(id);
    return { status: 200 };
  });
  return accepted;
}

it('makes one delivery of a command whose events are in two batches', {
  ...takesMinutes('commands in two batches'),
  timeout: 300_000,
}, async () => {
  const data = createDataDirectory();
  const receiver = await startReceiving();
  const before = await open(data);
  await addHook(before, receiver, ['entry.delete']);
  await before.varve.close();
  const meanwhile = await openInProcess(data);
  const { createTag, passingArticle } = writerOf(meanwhile);
  // With seven events each, one of seven batches ends between the two events of a deletion.
  for (let n = 0; n <= BATCH; n++) {
    await passingArticle(`a${n}`);
    await createTag(`t${n}`);
  }
  await meanwhile.close();
  const { varve } = await open(data);
  onTestFinished(varve.close);
  await receiver.until(BATCH + 1);
  const received = [...new Map(receiver.received.map((one) => [one.id, one])).values()];
  expect(new Set(received.map(({ json }) => String(json['locales'])))).toEqual(new Set(['en,it']));
  expect(new Set(received.map(({ json }) => json.entry?.documentId)).size).toBe(BATCH + 1);
});

it('shows a draft as it was written, also if another locale has discarded a value of it since', async () => {
  const data = createDataDirectory();
  const receiver = await startReceiving();
  const before = await open(data);
  await addHook(before, receiver, ['entry.update']);
  await before.varve.close();
  const meanwhile = await openInProcess(data);
  const { content, article: type } = writerOf(meanwhile);
  const { documentId } = await content.create(type, 'locale=en', { data: { key: 'a', code: 'old' } });
  const document = { type, documentId };
  await content.update(document, 'locale=it', { data: { title: 'Uno' } });
  await content.update(document, 'locale=en&status=draft', { data: { code: 'new' } });
  await content.act(document, 'discard-draft', 'locale=it');
  await meanwhile.close();
  const { varve } = await open(data);
  onTestFinished(varve.close);
  const [update] = await receiver.until(1);
  expect(update?.json).toMatchObject({ locales: ['en'], entry: { code: 'new' } });
});

it('writes its progress to the log while it is the leader', async () => {
  const receiver = await startReceiving();
  const opened = await open(createDataDirectory(), { progressMs: 20 });
  const { varve } = opened;
  onTestFinished(varve.close);
  await addHook(opened, receiver, ['entry.create']);
  const { position } = await writerOf(varve).createTag('a');
  const progress = async () => {
    const written: bigint[] = [];
    for await (const { data } of varve.operator.log.readStream(webhookProgressStream('varve')))
      written.push(BigInt((data as WebhooksProgressed['data']).upTo));
    return written.some((upTo) => upTo >= position);
  };
  await expect.poll(progress, PATIENT).toBe(true);
});

it('passes on a replay that it has not begun, and the next leader makes it once', async () => {
  const receiver = await startReceiving();
  const folders = [createDataDirectory(), createDataDirectory()] as const;
  const eventStore = `sqlite:${join(folders[0], 'shared.db')}`;
  const lead = (folder: string, lookMs: number) => open(folder, { lookMs }, { data: { eventStore } });
  const first = await lead(folders[0], 2 * HOUR_MS);
  const { hook } = await addHook(first, receiver, ['entry.create']);
  await writerOf(first.varve).createTag('a');
  await expect.poll(() => first.store.count(hook.id).delivered, PATIENT).toBe(1);
  first.store.requestHistory({ hook: hook.id, from: 1n });
  await first.varve.close();
  const second = await lead(folders[1], 20);
  await receiver.until(2);
  await expect.poll(second.store.historyRequests, PATIENT).toEqual([]);
  await expect.poll(() => second.store.count(hook.id).delivered, PATIENT).toBe(1);
  await second.varve.close();
  const third = await lead(folders[0], 20);
  onTestFinished(third.varve.close);
  await expect.poll(() => third.store.progress()?.data.store, PATIENT).toBe(second.store.id);
  expect(third.store.historyRequests()).toEqual([]);
  await writerOf(third.varve).createTag('b');
  await receiver.until(3);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(2);
});

it.each([
  ['ignores the progress that an earlier leader writes when it continues after a pause', {}, 1],
  ['takes the progress of an earlier release, which has no epoch', { epoch: 0 }, 2],
] as const)('%s', async (_what, written, made) => {
  const receiver = await startReceiving();
  receiver.answer(() => ({ status: 503 }));
  const folders = [createDataDirectory(), createDataDirectory(), createDataDirectory()] as const;
  const file = join(folders[0], 'shared.db');
  const lead = (folder: string) => open(folder, {}, { data: { eventStore: `sqlite:${file}` } });
  const first = await lead(folders[0]);
  const { hook } = await addHook(first, receiver, ['entry.create']);
  await writerOf(first.varve).createTag('a');
  await receiver.until(1);
  await first.varve.close();
  const accepted = acceptIn(receiver);
  const second = await lead(folders[1]);
  // A leader that ends before it has read the answer leaves the delivery to the next one.
  await expect.poll(() => second.store.count(hook.id).delivered, PATIENT).toBe(1);
  await second.varve.close();
  const stream = webhookProgressStream('varve');
  const log = openSqliteEventStore(file, { space: 'varve' });
  const [before] = await Array.fromAsync(log.readStream(stream));
  if (before === undefined) throw new Error('the first leader wrote no progress');
  const metadata = { ...before.metadata, ...written };
  await log.append(stream, 'any', [{ ...before, id: randomUUID(), metadata }]);
  await log.close();
  const third = await lead(folders[2]);
  onTestFinished(third.varve.close);
  await writerOf(third.varve).createTag('b');
  await expect.poll(() => accepted.size, PATIENT).toBe(2);
  expect(third.store.list({ limit: 10 })).toHaveLength(made);
});

it('passes on deliveries that are older than their webhook, and marks them as replayed', async () => {
  const receiver = await startReceiving();
  const folders = [createDataDirectory(), createDataDirectory()] as const;
  const eventStore = `sqlite:${join(folders[0], 'shared.db')}`;
  const first = await open(folders[0], { lookMs: 20 }, { data: { eventStore } });
  await writerOf(first.varve).createTag('early');
  receiver.answer(() => ({ status: 503 }));
  const { hook } = await addHook(first, receiver, ['entry.create']);
  first.store.requestHistory({ hook: hook.id, from: 1n });
  await receiver.until(1);
  await expect.poll(first.store.historyRequests, PATIENT).toEqual([]);
  await first.varve.close();
  const accepted = acceptIn(receiver);
  const second = await open(folders[1], { lookMs: 20 }, { data: { eventStore } });
  onTestFinished(second.varve.close);
  await expect.poll(() => accepted.size, PATIENT).toBe(1);
  const [failed, again] = [receiver.received[0], receiver.received.at(-1)];
  expect([again?.id, again?.json['replayed']]).toEqual([failed?.id, true]);
});

it('forgets the deliveries of a webhook that is removed', async () => {
  const receiver = await startReceiving();
  const opened = await open(createDataDirectory());
  onTestFinished(opened.varve.close);
  receiver.answer(() => ({ status: 503 }));
  const { hook } = await addHook(opened, receiver, ['entry.create']);
  await writerOf(opened.varve).createTag('a');
  await receiver.until(1);
  expect(opened.store.backlog().waiting).toBe(1);
  await opened.commands.remove(hook.id);
  await expect.poll(() => opened.store.backlog().waiting, PATIENT).toBe(0);
});

it('writes a replay to the log before it begins, in case it is killed', async () => {
  const receiver = await startReceiving();
  const opened = await open(createDataDirectory(), { lookMs: 20, progressMs: 2 * HOUR_MS });
  const { varve, store } = opened;
  onTestFinished(varve.close);
  const { hook } = await addHook(opened, receiver, ['entry.create']);
  await writerOf(varve).createTag('a');
  // A delivery in flight would be done with its answer, and not be sent again.
  await expect.poll(() => store.count(hook.id).delivered, PATIENT).toBe(1);
  store.requestHistory({ hook: hook.id, from: 1n });
  await receiver.until(2);
  const replays: unknown[] = [];
  for await (const { metadata } of varve.operator.log.readStream(webhookProgressStream('varve')))
    replays.push(...((metadata as ProgressMetadata).replays ?? []));
  expect(replays).toEqual([{ hook: hook.id, from: '1' }]);
});

it('forgets deliveries that were made too long ago', async () => {
  const data = createDataDirectory();
  const receiver = await startReceiving();
  const first = await open(data);
  await addHook(first, receiver, ['entry.create']);
  await writerOf(first.varve).createTag('a');
  const states = ({ store }: Opened) => store.list({ limit: 10 }).map(({ state }) => state);
  await expect.poll(() => states(first), PATIENT).toEqual(['delivered']);
  await first.varve.close();
  const second = await open(data);
  await writerOf(second.varve).createTag('b');
  await expect.poll(() => states(second), PATIENT).toEqual(['delivered', 'delivered']);
  await second.varve.close();
  const third = await open(data, { keepMs: 1 });
  onTestFinished(third.varve.close);
  await expect.poll(() => states(third), PATIENT).toEqual([]);
});

it('forgets them each hour, without another start', async () => {
  const receiver = await startReceiving();
  const opened = await open(createDataDirectory(), {
    keepMs: 1,
    lookMs: 2 * HOUR_MS,
    progressMs: 2 * HOUR_MS,
  });
  onTestFinished(opened.varve.close);
  // The term begins with its first webhook.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await addHook(opened, receiver, ['entry.create']);
  await writerOf(opened.varve).createTag('a');
  const states = () => opened.store.list({ limit: 10 }).map(({ state }) => state);
  await expect.poll(states, PATIENT).toEqual(['delivered']);
  // Polls have advanced the time a little.
  await vi.advanceTimersByTimeAsync(HOUR_MS / 2);
  expect(states()).toEqual(['delivered']);
  await vi.advanceTimersByTimeAsync(HOUR_MS / 2);
  expect(states()).toEqual([]);
});

describe('a file of deliveries that cannot be used for a while', () => {
  /** Duration of a lock: fewer looks than until a report. */
  const LOCKED_MS = 120;

  /** Removes a table. Statements that need it fail at once, as on a full disk. */
  const lose = (data: string, table: string) => {
    const db = new DatabaseSync(join(data, 'webhooks.db'));
    db.exec(`ALTER TABLE ${table} RENAME TO lost`);
    return () => {
      db.exec(`ALTER TABLE lost RENAME TO ${table}`);
      db.close();
    };
  };

  async function openFailing() {
    const [data, receiver, failures] = [createDataDirectory(), await startReceiving(), [] as unknown[]];
    const limits = { progressMs: 20, lookMs: 20 };
    const opened = await open(data, limits, { failed: (error) => void failures.push(error) });
    onTestFinished(opened.varve.close);
    const { hook } = await addHook(opened, receiver, ['entry.create']);
    await writerOf(opened.varve).createTag('a');
    await expect.poll(() => opened.store.count(hook.id).delivered, PATIENT).toBe(1);
    return { data, receiver, failures, opened };
  }

  it('does not end the process or the deliveries', async () => {
    const { data, receiver, failures, opened } = await openFailing();
    const find = lose(data, 'meta');
    await expect.poll(() => failures.length, PATIENT).toBeGreaterThan(3);
    find();
    await writerOf(opened.varve).createTag('b');
    await receiver.until(2);
  });

  /** Locks the file like a transaction of another process. The lock ends only if the event loop is free. */
  const lockFor = async (data: string, work: () => Promise<unknown>) => {
    const db = new DatabaseSync(join(data, 'webhooks.db'));
    db.exec('BEGIN IMMEDIATE');
    await work();
    db.exec('COMMIT');
    db.close();
  };

  it('is locked by another process: the result of a delivery is kept, and it is not sent again', async () => {
    const { data, receiver, failures, opened } = await openFailing();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    receiver.answer(async () => {
      asked.resolve();
      await answered.promise;
      return { status: 200 };
    });
    await writerOf(opened.varve).createTag('b');
    await asked.promise;
    await lockFor(data, async () => {
      answered.resolve();
      await delay(LOCKED_MS);
    });
    const states = () => opened.store.list({ limit: 10 }).map(({ state }) => state);
    await expect.poll(states, PATIENT).toEqual(['delivered', 'delivered']);
    expect(receiver.received).toHaveLength(2);
    expect(failures).toEqual([]);
  });

  it('is locked by another process: deliveries are made when the lock ends', async () => {
    const { data, receiver, failures, opened } = await openFailing();
    await lockFor(data, async () => {
      await writerOf(opened.varve).createTag('b');
      await delay(LOCKED_MS);
    });
    await receiver.until(2);
    expect(failures).toEqual([]);
  });

  it('is locked by another process for long: the failure is reported', async () => {
    const { data, receiver, failures, opened } = await openFailing();
    await lockFor(data, async () => {
      await writerOf(opened.varve).createTag('b');
      await expect.poll(() => failures.length, PATIENT).toBeGreaterThan(0);
    });
    await receiver.until(2);
    expect(String(failures[0])).toContain('locked');
  });

  it('does not hide webhooks that are added in the meantime or later', async () => {
    const { data, receiver, failures, opened } = await openFailing();
    const find = lose(data, 'deliveries');
    await addHook(opened, receiver, ['entry.create'], 'second');
    await expect.poll(() => failures.length, PATIENT).toBeGreaterThan(3);
    find();
    await addHook(opened, receiver, ['entry.create'], 'third');
    await writerOf(opened.varve).createTag('b');
    await receiver.until(4);
  });
});

/** Number of open deliveries, more than the 500 that progress in the log can list. */
const MANY = 520;

describe(
  `two leaders with ${MANY} open deliveries`,
  takesMinutes('many open deliveries of two leaders'),
  () => {
    /** `lead` opens a leader of one log. The first one has created the tags. */
    const startLeaders = async (status: number, limits: Partial<WebhookLimits> = {}) => {
      const receiver = await startReceiving();
      receiver.answer(() => ({ status }));
      const folders = [createDataDirectory(), createDataDirectory()] as const;
      const eventStore = `sqlite:${join(folders[0], 'shared.db')}`;
      const lead = (folder: string) => open(folder, { lookMs: 20, ...limits }, { data: { eventStore } });
      const first = await lead(folders[0]);
      const { hook } = await addHook(first, receiver, ['entry.create']);
      const { createTag } = writerOf(first.varve);
      for (let n = 0; n < MANY; n++) await createTag(`k${n}`);
      const countOf = ({ store }: Opened) => store.count(hook.id);
      return { receiver, folders, lead, first, hook: hook.id, countOf };
    };

    it.each([
      ['had delivered them before', false],
      ['has removed them', true],
    ])(
      'sends replays again that the other one was to send, though it %s',
      async (_what, isRemoved) => {
        const { receiver, folders, lead, first, hook, countOf } = await startLeaders(200);
        await expect.poll(() => countOf(first).delivered, PATIENT).toBe(MANY);
        if (isRemoved) first.store.prune(Date.now() + 1, new Set());
        await first.varve.close();
        receiver.answer(() => ({ status: 503 }));
        const second = await lead(folders[1]);
        second.store.requestHistory({ hook, from: 1n });
        await expect.poll(() => countOf(second).waiting, PATIENT).toBe(MANY);
        await second.varve.close();
        const accepted = acceptIn(receiver);
        const third = await lead(folders[0]);
        onTestFinished(third.varve.close);
        await expect.poll(() => accepted.size, PATIENT).toBe(MANY);
        await expect.poll(() => countOf(third), PATIENT).toMatchObject({ waiting: 0, delivered: MANY });
      },
      120_000,
    );

    it('sends replays that are older than their webhook, even if the other leader could not list them', async () => {
      const { receiver, folders, lead, first, hook } = await startLeaders(200);
      await first.commands.remove(hook);
      receiver.answer(() => ({ status: 503 }));
      const { hook: late } = await addHook(first, receiver, ['entry.create']);
      first.store.requestHistory({ hook: late.id, from: 1n });
      await expect.poll(() => first.store.count(late.id).waiting, PATIENT).toBe(MANY);
      await first.varve.close();
      const accepted = acceptIn(receiver);
      const second = await lead(folders[1]);
      onTestFinished(second.varve.close);
      await expect.poll(() => accepted.size, PATIENT).toBe(MANY);
      expect(new Set([...accepted].map((id) => id.split('_')[1]))).toEqual(new Set([late.id]));
    }, 300_000);

    it('keeps deliveries parked that the other leader could not list', async () => {
      const { folders, lead, first, countOf } = await startLeaders(503, { retryMs: [] });
      await expect.poll(() => countOf(first).parked, PATIENT).toBe(MANY);
      await first.varve.close();
      const second = await lead(folders[1]);
      await expect.poll(() => countOf(second).parked, PATIENT).toBe(500);
      await second.varve.close();
      const third = await lead(folders[0]);
      onTestFinished(third.varve.close);
      // Waits until the term has begun.
      await expect.poll(() => third.store.progress()?.data.store, PATIENT).toBe(second.store.id);
      expect(countOf(third)).toMatchObject({ waiting: 0, elsewhere: 0, parked: MANY });
    }, 300_000);
  },
);
