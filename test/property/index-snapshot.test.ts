import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readParts, writeParts } from '../../shared/part-file.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { benchmarkBatch, createRandom } from '../bench/embedded-data.ts';
import { BENCHMARK_QUERIES } from '../bench/embedded-queries.ts';
import { libraryRegistry } from '../contract/read-index-library.ts';
import { historyOf } from '../support/brute-force-history.ts';
import { searchRequests, traversalPlans } from '../support/brute-force-questions.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';
import { createChanges } from '../support/random-changes.ts';
import { searchAnswer, traversalAnswer } from '../support/read-answers.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? count(200, 60));
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

/** Returns an index that continues from a file of `index`. */
async function restored(index: EmbeddedIndex, options: EmbeddedIndexOptions, file: string) {
  writeParts(file, index.snapshot.parts());
  const next = createEmbeddedIndex(options);
  await next.snapshot.restore(readParts(file), index.position());
  return next;
}

describe(`an index restored from a file (seed ${SEED}, ${RUNS} runs)`, () => {
  it('gives the answers of the index that was saved, also after further changes', {
    timeout: 240_000,
  }, async () => {
    const registry = libraryRegistry();
    const file = join(dataForTest(), 'index');
    const searches = fc.array(searchRequests(registry), { minLength: 2, maxLength: 6 });
    const traversals = fc.array(traversalPlans(registry), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(
      historyOf(registry),
      fc.nat(),
      fc.boolean(),
      searches,
      traversals,
      async (batches, at, isAsked, searched, traversed) => {
        const options = { registry, reuseOrdinalsAfter: 0, keepSetsFrom: 0 };
        let index = createEmbeddedIndex(options);
        const naive = createBruteForceReadIndex(registry);
        const answersOf = async (from: ReadIndex) => [
          ...(await Promise.all(searched.map((request) => searchAnswer(from, request)))),
          ...(await Promise.all(traversed.map((plan) => traversalAnswer(from, plan)))),
        ];
        for (const [i, batch] of batches.entries()) {
          await index.apply(batch);
          await naive.apply(batch);
          // Queries build dictionaries, which are saved when they are complete.
          if (isAsked) await answersOf(index);
          if (i === at % batches.length || i === Math.floor(at / 7) % batches.length)
            index = await restored(index, options, file);
          expect(index.position()).toBe(batch.position);
          expect(await answersOf(index)).toEqual(await answersOf(naive));
        }
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  });

  it('gives the answers of a large index with dictionaries and deleted rows', {
    ...takesMinutes('a snapshot of a large index'),
    timeout: 300_000,
  }, async () => {
    const registry = conformanceRegistry();
    const batch = benchmarkBatch(registry);
    const random = createRandom(SEED);
    const change = createChanges(batch);
    const saved = createEmbeddedIndex({ registry });
    await saved.apply(batch);
    const answersOf = async (index: ReadIndex, seed: number) => {
      const asked = BENCHMARK_QUERIES.map((query) => query.make(createRandom(seed)));
      const found = await Promise.all(asked.map((request) => index.search(request)));
      return found.map(({ total, hits }) => ({ total, rows: hits.rows, sources: hits.sources.map(String) }));
    };
    await answersOf(saved, SEED);
    for (let round = 2; round < 30; round++) await saved.apply(change(random, BigInt(round)));
    const next = await restored(saved, { registry }, join(dataForTest(), 'index'));
    for (let round = 30; round < 40; round++) {
      expect(await answersOf(next, SEED + round)).toEqual(await answersOf(saved, SEED + round));
      const changes = change(random, BigInt(round));
      for (const index of [saved, next]) await index.apply(changes);
    }
  });
});

describe(`a damaged file of parts (seed ${SEED})`, () => {
  const values = fc.array(fc.oneof(fc.string(), fc.uint8Array(), fc.bigInt(), fc.constant('')), {
    maxLength: 8,
  });
  const damages = {
    'with a changed byte': (file: string, at: number, by: number) => {
      const bytes = readFileSync(file);
      bytes[at % bytes.length] = ((bytes[at % bytes.length] as number) + by) % 256;
      writeFileSync(file, bytes);
    },
    'that ends too early': (file: string, at: number) => truncateSync(file, at % readFileSync(file).length),
    'with bytes after its end': (file: string, at: number, by: number) =>
      appendFileSync(file, Buffer.alloc((at % 20) + 1, by)),
    'with bytes that are missing or moved': (file: string, at: number, by: number) => {
      const bytes = readFileSync(file);
      const from = at % bytes.length;
      const moved = bytes.subarray(from, from + by);
      const rest = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + by)]);
      const isMoved = by % 2 === 0 && !bytes.equals(Buffer.concat([rest, moved]));
      writeFileSync(file, isMoved ? Buffer.concat([rest, moved]) : rest);
    },
  };

  it.each(Object.entries(damages))('%s is refused', (_, damage) => {
    const file = join(dataForTest(), 'parts');
    const property = fc.property(values, fc.nat(), fc.integer({ min: 1, max: 255 }), (parts, at, by) => {
      writeParts(file, parts);
      expect([...readParts(file)]).toEqual(parts);
      damage(file, at, by);
      expect(() => [...readParts(file)]).toThrow();
    });
    fc.assert(property, { seed: SEED, numRuns: RUNS });
  });
});
