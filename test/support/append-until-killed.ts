import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';

// A program that test/contract/event-store-crash.test.ts starts with a log and a file. 32 writers append to 24 streams at once until it
// is killed. It writes every acknowledged append to the file.
const [, , log = '', acknowledged = ''] = process.argv;
const store = openSqliteEventStore(log, { space: 'varve', threaded: true });
const file = openSync(acknowledged, 'a');

const write = async (writer: number): Promise<never> => {
  for (let n = 0; ; n += 1) {
    const stream = `varve.crash-${(writer + n) % 24}`;
    const of = (n % 4) + 1;
    const append = randomUUID();
    const events = Array.from({ length: of }, (_, index) => ({
      id: randomUUID(),
      type: 'entry-changed',
      data: { append, index, of, padding: 'x'.repeat((n * 37) % 3_000) },
      metadata: { schemaVersion: 1, at: '2026-03-04T05:06:07.089Z', epoch: 0 },
    }));
    const result = await store.append(stream, 'any', events);
    if (result.kind !== 'appended') throw new Error('an append without expectation met a conflict');
    writeSync(file, `${JSON.stringify({ append, of, stream, revision: String(result.revision) })}\n`);
    if (n === 0 && writer === 0) process.stdout.write('first\n');
  }
};
await Promise.all(Array.from({ length: 32 }, (_, writer) => write(writer)));
