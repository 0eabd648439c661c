import { describe, expect, it } from 'vitest';
import { simulateWrites, type WriteLoad, type WriterRates } from '../bench/fleet/simulate-writes.ts';
import { type Capacity, sizeFleet } from '../bench/fleet/size-fleet.ts';
import { createRandom } from '../support/naive-random.ts';

const RATES: WriterRates = { bulkPerSecond: 1_000, refreshMs: 30, writesPerSecond: 500 };
const LOAD: WriteLoad = {
  editsPerSecond: 10,
  fanOut: [{ share: 1, copies: 5 }],
  bursts: [],
  embedding: 1e6,
  seconds: 120,
};

const simulate = (rates: Partial<WriterRates>, load: Partial<WriteLoad>) =>
  simulateWrites({ ...RATES, ...rates }, { ...LOAD, ...load }, createRandom(7).next);

describe('the simulated writing side', () => {
  it('loses nothing: every marked document is written, coalesced, or left', () => {
    for (const load of [{}, { bursts: [{ atSecond: 10, copies: 50_000 }] }, { editsPerSecond: 400 }]) {
      const { marked, written, coalesced, left } = simulate({}, load);
      expect(Math.abs(marked - written - coalesced - left)).toBeLessThanOrEqual(2);
    }
  });

  it('shows an edit after a refresh while there is little to do', () => {
    const { visibleP50, left, largestBacklog } = simulate({}, {});
    expect(visibleP50).toBeGreaterThanOrEqual(30);
    expect(visibleP50).toBeLessThan(60);
    expect([left, largestBacklog]).toEqual([0, 0]);
  });

  it('finishes a burst in the time that its documents take, and shows other edits in the meantime', () => {
    const { atRestAfter, largestBacklog, visibleP99 } = simulate(
      {},
      { bursts: [{ atSecond: 10, copies: 20_000 }] },
    );
    expect(largestBacklog).toBeGreaterThan(19_000);
    // The backlog has 20,000 documents at 1,000 a second, less the share of 10 edits of 6 documents a second.
    expect(atRestAfter).toBeGreaterThan(20);
    expect(atRestAfter).toBeLessThan(45);
    expect(visibleP99).toBeLessThan(250);
  });

  it('never catches up if more documents become stale than can be written', () => {
    const outcome = simulate(
      {},
      { fanOut: [{ share: 1, copies: 2_000 }], bursts: [{ atSecond: 1, copies: 2_000 }] },
    );
    expect(outcome.atRestAfter).toBeUndefined();
    expect(outcome.left).toBeGreaterThan(100_000);
    expect(outcome.oldestSeconds).toBeGreaterThan(60);
  });

  it('writes a document once that was marked twice', () => {
    const bursts = [10, 11, 12].map((atSecond) => ({ atSecond, copies: 20_000 }));
    expect(simulate({}, { bursts, embedding: 20_000 }).coalesced).toBeGreaterThan(35_000);
    expect(simulate({}, { bursts, embedding: 1e9 }).coalesced).toBeLessThan(10);
  });
});

describe('the size of a fleet', () => {
  const capacity: Capacity = {
    searchesPerCore: 1_000,
    requestsPerCore: 1_000,
    searchesPerRequest: 2,
    bytesPerDocument: 2_000,
    replayPerSecond: 10_000,
    coresPerDataNode: 16,
    memoryPerDataNode: 64 * 2 ** 30,
    coresPerApi: 4,
  };

  it('follows searches, memory, or what must survive a lost node', () => {
    const small = sizeFleet({ documents: 1e5, readsPerSecond: 10, writesPerSecond: 1 }, capacity);
    expect(small).toMatchObject({ dataNodes: 3, apiProcesses: 2, boundBy: 'availability', shards: 1 });
    const read = sizeFleet({ documents: 1e6, readsPerSecond: 1e5, writesPerSecond: 1 }, capacity);
    // There are 200,000 searches a second. A node has 16 cores that answer 1,000 each, at a utilisation of 60 %.
    expect(read).toMatchObject({ dataNodes: 21, apiProcesses: 42, boundBy: 'searches' });
    const large = sizeFleet({ documents: 2e9, readsPerSecond: 10, writesPerSecond: 1 }, capacity);
    expect(large.boundBy).toBe('memory');
    expect(large.replayHours).toBeCloseTo(55.6, 1);
  });
});
