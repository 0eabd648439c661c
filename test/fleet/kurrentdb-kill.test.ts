import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import type { LogRecord } from '../support/kurrentdb/double-record.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';

/**
 * kill -9 of a server while events and then a checkpoint of KurrentDB wait in the buffer of its subscription. The process stores the
 * position from which it continues only when it has applied everything before. No event is missing after a restart.
 */
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? count(5, 2));
/** Number of events in a round. More than the 512 that the buffer of the subscription holds. */
const EVENTS = 3_000;
/** Other records: enough for a checkpoint, which comes every 10,000, and so many bytes that the graph stores the position at once. */
const FOREIGN = { count: 25_000, bytes: 6_000 };
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

let double: KurrentDbDouble;
let server: RunningServer;
afterEach(async () => {
  await server.dispose();
  double.stop();
});

const start = (data?: string) =>
  startServer({
    arguments: ['--event-store', double.url, '--access-key', ACCESS_KEY],
    ...(data !== undefined && { data }),
  });

const total = async (): Promise<number> => {
  const answer = await fetch(`${server.url}/api/tags?pagination[pageSize]=1`);
  const { meta } = (await answer.json()) as { meta: { pagination: { total: number } } };
  return meta.pagination.total;
};

const jsonOf = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;

/** Writes documents of another process: copies of one that the server created. Returns their positions. */
const writeCopies = (made: LogRecord, documentId: string, count: number): readonly bigint[] => {
  const text = Buffer.from(made.data).toString();
  // The copies have no digest, like events of earlier releases.
  const { digest: _, ...earlier } = jsonOf(made.metadata);
  const lease = double.log.read('varve.lease')?.findLast(({ type }) => type === 'leader-elected');
  const metadata = { ...earlier, epoch: jsonOf(lease?.data ?? Buffer.from('{}'))['epoch'] };
  return Array.from({ length: count }, () => {
    const copy = randomUUID().replaceAll('-', '').slice(0, documentId.length);
    const written = double.log.write(made.stream.replace(documentId, copy), 'no_stream', [
      {
        ...made,
        id: randomUUID(),
        data: Buffer.from(text.replaceAll(documentId, copy)),
        metadata: Buffer.from(JSON.stringify(metadata)),
      },
    ]);
    return written.kind === 'written' ? (written.position ?? 0n) : 0n;
  });
};

/** Returns the positions that a killed process stored: of the last event that it applied, and from which it continues to read. */
const readPlace = (data: string) => {
  const { connection, close } = openReadSnapshot(join(data, 'graph.db'));
  const meta = Object.fromEntries(
    connection
      .prepare("SELECT name, value FROM meta WHERE name IN ('position', 'read_from')")
      .all()
      .map(({ name, value }) => [String(name), BigInt(value as number)]),
  );
  close();
  return { applied: meta['position'] ?? 0n, readFrom: meta['read_from'] ?? 0n };
};

test(`no event is missing after kill -9 with a full buffer, ${ROUNDS} times`, {
  ...takesMinutes('kills with a full buffer'),
  timeout: ROUNDS * 60_000,
}, async () => {
  double = await startKurrentDbDouble();
  server = await start();
  const answer = await fetch(`${server.url}/api/tags`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: 'first' } }),
  });
  const { documentId } = ((await answer.json()) as { data: { documentId: string } }).data;
  const made = [...double.log.records].find(({ stream }) => stream.endsWith(documentId));
  if (made === undefined) throw new Error('the document is not in the log');
  let documents = 1;
  for (let round = 1, inside = 0; inside < ROUNDS; round += 1) {
    const checkpoints = double.observed.checkpointsSent;
    const written = writeCopies(made, documentId, EVENTS);
    documents += EVENTS;
    const [last = 0n] = written.slice(-1);
    double.log.addForeign(FOREIGN.count, FOREIGN.bytes);
    // After a checkpoint was sent, all events before it are applied or in the subscription's buffer.
    while (double.observed.checkpointsSent === checkpoints) await delay(1);
    await delay(4 * (round % 8));
    await server.stop('SIGKILL');
    const { applied, readFrom } = readPlace(server.data);
    if (applied < last) {
      inside += 1;
      expect(readFrom).toBeLessThanOrEqual(applied);
    }
    server = await start(server.data);
    expect(await total(), `after round ${round}`).toBe(documents);
  }
});
