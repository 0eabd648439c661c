import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 300);
const SPACE = 'varve';
const STREAMS = ['a', 'b', leaseStream(SPACE)];

/** An event to append. A writer of epoch `newest - late` writes it, or claims the next epoch. */
const APPEND = fc.record({
  kind: fc.constantFrom('claim', 'write', 'write', 'write', 'foreign', 'newer'),
  late: fc.nat(2),
  stream: fc.nat(STREAMS.length - 1),
  /** Positions without an event before this one: records of other namespaces. */
  gap: fc.nat(2),
});
type Append = typeof APPEND extends fc.Arbitrary<infer Value> ? Value : never;

const READ = fc.record({ after: fc.nat(60), batchSize: fc.integer({ min: 1, max: 7 }), length: fc.nat(40) });
const STEPS = fc.array(
  fc.record({ appends: fc.array(APPEND, { maxLength: 12 }), reads: fc.array(READ, { maxLength: 3 }) }),
  {
    maxLength: 5,
  },
);

/** Creates a log in memory. */
function createLog() {
  const events: StoredEvent[] = [];
  const of = (stream: string) => events.filter((event) => event.stream === stream);
  let epoch = 0;
  const append = ({ kind, late, stream, gap }: Append): void => {
    if (kind === 'claim') epoch++;
    const name = kind === 'claim' ? leaseStream(SPACE) : (STREAMS[stream] ?? '');
    const unreadable = { foreign: { kind: 'foreign' }, newer: { kind: 'newer-version' } }[kind as 'newer'];
    events.push({
      id: String(events.length),
      stream: name,
      revision: BigInt(of(name).length),
      position: (events.at(-1)?.position ?? 0n) + 1n + BigInt(gap),
      type: kind === 'claim' ? 'leader-elected' : 'entry-changed',
      data: { epoch },
      metadata: { schemaVersion: 1, at: '', epoch: kind === 'claim' ? epoch : Math.max(0, epoch - late) },
      ...(unreadable && { unreadable: { ...unreadable, reason: '' } }),
    } as StoredEvent);
  };
  const log: Pick<EventStore, 'readAll' | 'readStream' | 'lastPosition' | 'subscribe'> = {
    lastPosition: async () => events.at(-1)?.position ?? 0n,
    async *readAll(after, { batchSize = 100 } = {}) {
      const later = events.filter(({ position }) => position > after);
      for (let at = 0; at < later.length; at += batchSize) yield later.slice(at, at + batchSize);
    },
    async *readStream(stream, from = 0n) {
      yield* of(stream).slice(Number(from));
    },
    subscribe(after, handle, { batchSize = 100 } = {}) {
      const done = (async () => {
        for await (const batch of log.readAll(after, { batchSize }))
          await handle(batch, batch.at(-1)?.position ?? 0n);
      })();
      return { done, close: () => done };
    },
  };
  return { log, append, events };
}

/** Returns the events that count, by the rule in docs/events.md. */
function counting(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.filter(({ position, metadata, unreadable }) => {
    if (unreadable !== undefined) return unreadable.kind !== 'foreign';
    const claims = events.filter((event) => event.type === 'leader-elected' && event.position < position);
    return claims.every(({ data }) => (data as { readonly epoch: number }).epoch <= metadata.epoch);
  });
}

it('gives the events that count, from any position, of any stream, and while the log grows', async () => {
  const property = fc.asyncProperty(STEPS, async (steps) => {
    const { log, append, events } = createLog();
    const effective = createEffectiveEvents(log, SPACE);
    for (const { appends, reads } of steps) {
      for (const each of appends) append(each);
      const all = counting(events);
      const read = async ({ after, batchSize, length }: (typeof reads)[number]) => {
        const [from, until] = [BigInt(after), BigInt(after + length)];
        const later = all.filter(({ position }) => position > from);
        const part = later.filter(({ position }) => position <= until);
        expect(await Array.fromAsync(effective.after(from, { batchSize }))).toEqual(later);
        expect(await Array.fromAsync(effective.after(from, { batchSize, until }))).toEqual(part);
        const seen: StoredEvent[] = [];
        await effective.subscribe(from, async (batch) => void seen.push(...batch.events), { batchSize }).done;
        expect(seen).toEqual(later);
      };
      const readStream = async (name: string) =>
        expect(await Array.fromAsync(effective.stream(name))).toEqual(
          all.filter(({ stream }) => stream === name),
        );
      await Promise.all([...STREAMS.map(readStream), ...reads.map(read)]);
    }
  });
  await fc.assert(property, { numRuns: RUNS });
});
