import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createApiClient } from '../support/api-client.ts';
import { readFeed } from '../support/feed-client.ts';
import { type Member, startFleet } from '../support/fleet.ts';
import { type FeedFollower, followFeed } from '../support/follow-feed.ts';
import { pauseMember } from '../support/pause-member.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** How often the server, or its receiver, is killed. */
const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 4);
/** How often the leader of two processes is killed, stopped or ended. */
const HAND_OVERS = Number(process.env['WEBHOOK_HAND_OVERS'] ?? 3);
const DOCUMENTS = 4;
/** A busy machine takes seconds to start a server. */
const TIMEOUT_MS = 600_000 + KILLS * 20_000;
const RETRY = ['--webhook-retry', Array(200).fill('0.1').join(), '--webhook-hold', '3600'];

type Line = { readonly id: string; readonly documentId: string; readonly key: string };

describe('webhooks over kill -9', takesMinutes('webhooks over kill -9'), () => {
  it(
    `loses none and keeps their order while the server and the receiver are killed ${KILLS} times`,
    async () => {
      const receiver = await startReceiverProcess();
      const data = createDataDirectory();
      let server = await startServer({ data, arguments: RETRY });
      onTestFinished(() => server.dispose());
      await addHook(server.url, receiver.url);
      const feed = await followFromNow(() => server.url);
      const writer = await createWriter(() => server.url);
      for (let kill = 0; kill < KILLS; kill++) {
        await writer.write(10);
        if (kill % 2 === 0) {
          const restart = async () => {
            await delay(Math.random() * 50);
            await server.stop('SIGKILL');
            server = await startServer({ data, arguments: RETRY });
          };
          await Promise.all([writer.write(5), restart()]);
        } else {
          receiver.kill();
          await writer.write(5);
          await receiver.start();
        }
      }
      await checkReceived(receiver, writer.written());
      await checkFollowed(feed, writer.written());
    },
    TIMEOUT_MS,
  );

  it(
    `hands deliveries over from one leader to the next ${HAND_OVERS} times, also from one that is stopped`,
    async () => {
      const receiver = await startReceiverProcess();
      const fleet = await startFleet({ size: 2, arguments: RETRY });
      onTestFinished(fleet.dispose);
      await addHook((await fleet.leader()).server().url, receiver.url);
      let current = await fleet.leader();
      const feed = await followFromNow(() => current.server().url);
      const writer = await createWriter(() => current.server().url);
      const stops = ['SIGKILL', 'SIGSTOP', 'SIGTERM'] as const;
      for (let at = 0; at < HAND_OVERS; at++) {
        await writer.write(10);
        const leader = await fleet.leader();
        current = fleet.members.find((member) => member !== leader) as Member;
        const signal = stops[at % stops.length] ?? 'SIGKILL';
        // Deliveries are in flight: they fail, and are sent by both.
        receiver.kill();
        const stop = () => (signal === 'SIGSTOP' ? pauseMember(fleet, leader) : leader.end(signal));
        await Promise.all([writer.write(5), stop()]);
        await receiver.start();
        await writer.write(5);
        if (signal === 'SIGSTOP') leader.server().signal('SIGCONT');
        else await leader.start();
      }
      await checkReceived(receiver, writer.written());
      await checkFollowed(feed, writer.written());
    },
    600_000 + HAND_OVERS * 60_000,
  );
});

/** Writes numbered edits of a few documents, and repeats one whose outcome is unknown as the same command. */
async function createWriter(url: () => string) {
  const written = new Map<string, string[]>();
  const call = async (method: string, path: string, body: object): Promise<string> => {
    const key = crypto.randomUUID();
    for (;;) {
      try {
        const answer = await fetch(url() + path, {
          method,
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        const { data } = (await answer.json()) as { data?: { documentId: string } };
        if (answer.status < 300 && data !== undefined) return data.documentId;
      } catch {
        // The server is being started again.
      }
      await delay(20);
    }
  };
  const documents: string[] = [];
  for (let n = 0; n < DOCUMENTS; n++) {
    const id = await call('POST', '/api/tags', { data: { key: `d${n}-0` } });
    documents.push(id);
    written.set(id, [`d${n}-0`]);
  }
  return {
    written: () => written,
    async write(rounds: number): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(
          documents.map(async (id, n) => {
            const keys = written.get(id) ?? [];
            const key = `d${n}-${keys.length}`;
            await call('PUT', `/api/tags/${id}`, { data: { key } });
            keys.push(key);
          }),
        );
      }
    },
  };
}

async function addHook(url: string, receiver: string): Promise<void> {
  const data = { url: receiver, allowPrivate: true };
  await createApiClient(url).data('POST', '/_varve/webhooks', { data });
}

type ReceiverProcess = Awaited<ReturnType<typeof startReceiverProcess>>;

/** Every edit arrived, those of a document in order; a repetition has the id of the first. */
async function checkReceived(
  receiver: ReceiverProcess,
  written: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const count = [...written.values()].flat().length;
  const distinct = () => [...new Map(receiver.lines().map((line) => [line.id, line])).values()];
  while (distinct().length < count) await delay(50);
  for (const [documentId, keys] of written) {
    const own = distinct().filter((line) => line.documentId === documentId);
    expect(own.map(({ key }) => key)).toEqual(keys);
    const last = receiver.lines().filter((line) => line.documentId === documentId);
    expect(outOfOrder(last)).toEqual([]);
  }
}

/** A row that changes during a first sync may come twice: this reader begins behind one. */
async function followFromNow(url: () => string): Promise<FeedFollower> {
  const { next } = await readFeed(createAsk(url()), 'types=tags');
  return followFeed(url, `types=tags&since=${next}`);
}

/** The feed named every edit once, in the order of the log. */
async function checkFollowed(
  feed: FeedFollower,
  written: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await feed.until([...written.values()].flat().length);
  const positions = feed.items.map(({ position }) => BigInt(position));
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => (a < b ? -1 : 1)));
  for (const [documentId, keys] of written)
    expect(feed.items.filter((item) => item.documentId === documentId)).toHaveLength(keys.length);
  expect(feed.others).toEqual([]);
}

/** Lines that come after a later one and are not a repetition of what was delivered before. */
function outOfOrder(lines: readonly Line[]): readonly Line[] {
  const seen = new Set<string>();
  let most = -1n;
  return lines.filter(({ id }) => {
    const position = BigInt(id.split('_')[2] ?? 0);
    const isLate = position < most && !seen.has(id);
    seen.add(id);
    if (position > most) most = position;
    return isLate;
  });
}

async function startReceiverProcess() {
  const folder = createDataDirectory();
  const port = await freePort();
  const file = join(folder, 'received.jsonl');
  const program = join(import.meta.dirname, '../support/webhook-receiver-process.ts');
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(process.execPath, [program, String(port), file], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  await start();
  onTestFinished(() => void child?.kill('SIGKILL'));
  return {
    url: `http://127.0.0.1:${port}/`,
    start,
    kill: () => child?.kill('SIGKILL'),
    lines: (): readonly Line[] =>
      !existsSync(file)
        ? []
        : readFileSync(file, 'utf8')
            .split('\n')
            .flatMap((line) => (line.endsWith('}') ? (JSON.parse(line) as Line) : [])),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
