import { expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type EventReader, openEvents } from '../support/event-source.ts';
import type { RunningServer } from '../support/server.ts';
import { inRotation, pids, startWorkers } from '../support/several-workers.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The limits of streams hold across all workers. Each stream is on a connection of its own, and the workers get these in turn. */

/** A server notices at the next sign of life that a client has disconnected, because it answers clients that close only their side. */
const ARGUMENTS = ['--streams-per-caller', '1', '--stream-heartbeat', '50'];
const CALLERS = 4;
const TRIES = 4;
const TIMEOUT = { timeout: 300_000 };
const LONG = { ...takesMinutes('streams of workers that are killed and replaced'), ...TIMEOUT };
const POLL = { timeout: 30_000 };
const REFUSED =
  /^429 .*"1 streams are open: close one first, or raise --streams-per-caller","details":{"found":1,"option":"--streams-per-caller"},"code":"too-many-streams"/;

type Caller = { open(): Promise<EventReader>; opened(): Promise<EventReader>; refused(): Promise<void> };

/** A caller with a token of its own. */
async function createCaller(server: RunningServer, admin: string, name: string): Promise<Caller> {
  const token = await createTokenOver(createAsk(server.url, admin), { name, type: 'read-only' });
  const open = async () => {
    const reader = await openEvents(`${server.url}/api/_changes?types=tags`, {
      authorization: `Bearer ${token}`,
    });
    onTestFinished(reader.close);
    return reader;
  };
  return {
    open,
    /** A stream that can be opened soon: a server learns a little later that an earlier one has ended. */
    async opened() {
      const readers: EventReader[] = [];
      const attempt = async () => void readers.push(await open());
      await expect.poll(() => attempt().then(() => 'open', String), POLL).toBe('open');
      return readers[0] as EventReader;
    },
    async refused() {
      for (let i = 0; i < TRIES; i++) await expect(open()).rejects.toThrow(REFUSED);
    },
  };
}

async function startCallers(count: number) {
  const server = await startWorkers(ARGUMENTS);
  const admin = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  const names = Array.from({ length: count }, (_unused, n) => `caller ${n}`);
  const callers = await Promise.all(names.map((name) => createCaller(server, admin, name)));
  return { server, callers };
}

it('a caller has one stream in all workers, and another one when it has ended', TIMEOUT, async () => {
  const { callers } = await startCallers(1);
  const [caller] = callers as [Caller];
  for (let i = 0; i < TRIES; i++) {
    const reader = await caller.opened();
    await caller.refused();
    reader.close();
  }
});

it.each(['reading', 'leading'] as const)(
  'streams of a killed %s worker are not counted',
  LONG,
  async (which) => {
    const { server, callers } = await startCallers(CALLERS);
    const readers = await Promise.all(callers.map(({ opened }) => opened()));
    process.kill(pids(server)[which], 'SIGKILL');
    const isCut = () => readers.map((reader) => reader.isEnded());
    await expect.poll(isCut, POLL).toContain(true);
    for (const [n, caller] of callers.entries()) if (isCut()[n]) await caller.opened();
    expect(isCut()).toContain(false);
    for (const caller of callers) await caller.refused();
  },
);

it('streams continue in the next workers after a hand-over, and are counted there', LONG, async () => {
  const { server, callers } = await startCallers(CALLERS);
  let readers = await Promise.all(callers.map(({ opened }) => opened()));
  for (let round = 2; round < 4; round++) {
    process.kill(server.supervisor, 'SIGHUP');
    for (const reader of readers) await reader.until(() => reader.isEnded());
    await inRotation(server, round);
    readers = await Promise.all(callers.map(({ opened }) => opened()));
    for (const caller of callers) await caller.refused();
  }
});
