import { expect, it } from 'vitest';
import type { KnownAnswers } from '../../../services/delivery/known-answers.ts';
import { createListStreams } from '../../../services/http/streams/list-streams.ts';
import { createMemoryStream } from '../../support/memory-stream.ts';

/** Answers of one list are made no faster. */
const PACE_MS = 50;
const ANSWERS = 6;

it('answers of a list that changes all the time are made at a pace', async () => {
  let [position, answers] = [0n, 0];
  const known: Partial<KnownAnswers> = {
    find: () => undefined,
    keep: () => {},
    collect: () => ({ all: () => undefined }) as ReturnType<KnownAnswers['collect']>,
    position: () => ++position,
  };
  const streams = createListStreams({
    beyond: async () => {},
    verify: async () => {},
    failed(error) {
      throw error;
    },
  });
  const stream = createMemoryStream();
  const enough = Promise.withResolvers<number>();
  const answer = async () => {
    if (++answers === ANSWERS) enough.resolve(performance.now());
    return Buffer.from(String(answers));
  };
  const list = { name: 'list', generation: '', known: known as KnownAnswers, answer };
  const begun = performance.now();
  await streams.sendTo(list, () => ({ stream, isNotify: false }), undefined);
  const ended = await enough.promise;
  stream.closed();
  // The first two follow each other: one for the request, one for changes since. A timer may be early by a millisecond.
  expect(ended - begun).toBeGreaterThan((ANSWERS - 2) * (PACE_MS - 2));
});
