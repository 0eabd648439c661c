import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { readFeed } from '../support/feed-client.ts';
import { type Member, startFleet } from '../support/fleet.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { created, isReady, listOf, post, watchReads } from '../support/restored-content.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * An older copy of the log is put back under a fleet. Its entries: `kept` is in the copy; `freed` is in the copy and was deleted later;
 * `lost` was created later. So a process that serves the lost history shows `lost`, hides `freed`, and accepts a second `freed`.
 */
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

type Story = {
  readonly server: DoubleVersion;
  readonly size: number;
  /** State of the processes while the copy is put back. `leader-killed`: all but the leader run. */
  readonly processes: 'running' | 'stopped' | 'leader-killed';
  /** Records of other applications push the log past its old end before the processes see it. */
  readonly isPushed: boolean;
};

/** Writes through a process: entries of its own, and keys that the restored log has. Returns the stored keys, and how often each status came. */
const writeOn = (member: Member, name: string) => {
  const stored: string[] = [];
  const statuses = new Map<number, number>();
  let ended = false;
  const write = async (key: string) => {
    const answer = await post(member.server().url, key);
    await answer.arrayBuffer();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 201) stored.push(key);
  };
  const writing = (async () => {
    for (let n = 0; !ended; n += 1) {
      if (member.isUp())
        await Promise.all(['freed', 'kept', 'new', `${name}-${n}`].map(write)).catch(() => undefined);
      await delay(20);
    }
  })();
  return async () => {
    ended = true;
    await writing;
    return { stored, statuses };
  };
};

const keysIn = (double: KurrentDbDouble): readonly string[] => {
  const keys = new Map<string, string | undefined>();
  for (const { stream, type, data } of double.log.records) {
    if (!stream.startsWith('varve.') || !/entry-|document-/.test(type)) continue;
    const text = Buffer.from(data).toString();
    const [, key] = /"key":"([^"]+)"/.exec(text) ?? [];
    if (key !== undefined) keys.set(`${stream}`, key);
  }
  return [...keys.values()].filter((key) => key !== undefined);
};

const run = async ({ server, size, processes, isPushed }: Story): Promise<void> => {
  const double = await startKurrentDbDouble({ server });
  onTestFinished(double.stop);
  const args = ['--access-key', ACCESS_KEY];
  const fleet = await startFleet({ size, eventStore: double.url, arguments: args });
  onTestFinished(fleet.dispose);
  const { members } = fleet;
  const first = await fleet.leader();
  await created(first.server().url, 'kept');
  const freed = await created(first.server().url, 'freed');
  const inCopy = await tokenOf(first.server().url);
  const restore = double.log.backUp();
  await created(first.server().url, 'lost early');
  const between = await tokenOf(first.server().url);
  // The copy lacks the newest claim of the lease.
  await first.end('SIGTERM');
  await first.start();
  const { url } = (await fleet.leader()).server();
  await fetch(`${url}/api/tags/${freed}`, { method: 'DELETE' });
  await created(url, 'lost');
  for (const member of members)
    while (!(await listOf(member.server().url)).keys.includes('lost')) await delay(20);
  const fromBetween = [
    between,
    ...(await Promise.all(members.map((member) => tokenOf(member.server().url)))),
  ];
  if (processes === 'stopped') await Promise.all(members.map((member) => member.end('SIGTERM')));
  const leader = await (processes === 'leader-killed' ? fleet.leader() : undefined);
  const writers =
    processes === 'stopped' ? [] : members.map((member) => writeOn(member, `${member.name}-running`));
  await leader?.end('SIGKILL');
  await double.restore(() => {
    restore();
    if (isPushed) double.log.addForeign(500, 97);
  });
  const readers = members.map(watchReads);
  if (processes === 'stopped') await Promise.all(members.map((member) => member.start()));
  const late = members.map((member) => writeOn(member, `${member.name}-restored`));
  await delay(4_000);
  await leader?.start();
  for (const member of members) while (!(await isReady(member.server().url))) await delay(50);
  await delay(1_000);
  const written = await Promise.all([...writers, ...late].map((end) => end()));
  for (const { statuses } of written) expect([...statuses.keys()]).not.toContain(404);
  await delay(500);
  const read = await Promise.all(readers.map((end) => end()));
  expect(read.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(Math.min(...read.map(({ rounds }) => rounds))).toBeGreaterThan(0);
  await settles(
    members,
    double,
    written.slice(writers.length).flatMap(({ stored }) => stored),
  );
  for (const member of members) await continues(member, { inCopy, fromBetween });
};

const FEED = 'types=tags';
const tokenOf = async (url: string): Promise<string> => (await readFeed(createAsk(url), FEED)).next;

/** A reader of the feed misses and repeats nothing after the copy. Readers that know lost changes begin again. */
const continues = async (
  member: Member,
  { inCopy, fromBetween }: { readonly inCopy: string; readonly fromBetween: readonly string[] },
) => {
  const { url } = member.server();
  const { items } = await readFeed(createAsk(url), FEED, inCopy);
  const { ids } = await listAllOf(url);
  const known = new Set(items.map(({ documentId }) => documentId));
  expect(items.map(({ event }) => event)).not.toContain('delete');
  expect(known.size).toBe(items.length);
  expect(ids.filter((id) => !known.has(id))).toHaveLength(2);
  for (const token of fromBetween) {
    const { status, body } = await createAsk(url)(`/api/_changes?${FEED}&since=${token}`);
    expect([status, body.error?.code], token).toEqual([410, 'sync-token-gone']);
  }
};

/** All processes and a fresh one show the same, every unique key once, and everything that was stored after the copy was put back. */
const settles = async (members: readonly Member[], double: KurrentDbDouble, stored: readonly string[]) => {
  const fresh = await startServer({ arguments: ['--event-store', double.url, '--access-key', ACCESS_KEY] });
  onTestFinished(fresh.dispose);
  const { text, keys } = await listAllOf(fresh.url);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toContain('freed');
  expect(keys).not.toContain('lost');
  expect(stored.filter((key) => !keys.includes(key))).toEqual([]);
  const inLog = keysIn(double);
  expect(new Set(inLog).size).toBe(inLog.length);
  for (const member of members) {
    const { url } = member.server();
    await expect.poll(async () => (await listAllOf(url)).text, { message: member.name }).toBe(text);
    expect(await Promise.race([member.server().exited, delay(0, 'runs')])).toBe('runs');
  }
};

const listAllOf = async (url: string) => {
  const pages: { text: string; keys: string[]; ids: string[] }[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await fetch(`${url}/api/tags?sort=id&pagination[pageSize]=100&pagination[page]=${page}`);
    const { data } = (await answer.json()) as { data: { key: string; documentId: string }[] };
    if (data.length === 0) break;
    const ids = data.map(({ documentId }) => documentId);
    pages.push({ text: JSON.stringify(data), keys: data.map(({ key }) => key), ids });
  }
  return {
    text: pages.map(({ text }) => text).join(),
    keys: pages.flatMap(({ keys }) => keys),
    ids: pages.flatMap(({ ids }) => ids),
  };
};

const STORIES: readonly Story[] = [
  { server: '26.1', size: 2, processes: 'running', isPushed: true },
  { server: '24.2', size: 1, processes: 'running', isPushed: false },
  { server: '26.1', size: 1, processes: 'stopped', isPushed: false },
  { server: '24.2', size: 2, processes: 'stopped', isPushed: true },
  { server: '24.2', size: 2, processes: 'leader-killed', isPushed: true },
  { server: '26.1', size: 2, processes: 'leader-killed', isPushed: false },
  { server: '26.1', size: 4, processes: 'running', isPushed: false },
  { server: '24.2', size: 4, processes: 'leader-killed', isPushed: true },
];

describe('every process serves the restored log', takesMinutes('restored logs'), () => {
  test.each(STORIES)(
    '$server, $size processes, $processes, others’ records: $isPushed',
    { timeout: 240_000 },
    run,
  );
});
