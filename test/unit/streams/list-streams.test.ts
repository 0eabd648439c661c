import { expect, it } from 'vitest';
import { createAnswerMemory, type KnownAnswers } from '../../../services/delivery/known-answers.ts';
import { createTagPositions } from '../../../services/delivery/tag-positions.ts';
import { createListStreams } from '../../../services/http/streams/list-streams.ts';
import { createMemoryStream } from '../../support/memory-stream.ts';

/** Shortest time between two answers of a list. */
const PACE_MS = 50;
const ANSWERS = 6;

it('answers of a list that changes constantly are made at a limited rate', async () => {
  let [position, answers] = [0n, 0];
  const known: Partial<KnownAnswers> = {
    find: () => undefined,
    keep: () => {},
    collect: () => ({ all: () => undefined }) as ReturnType<KnownAnswers['collect']>,
    position: () => ++position,
  };
  const streams = createListStreams({
    freshness: { beyond: async () => true },
    streams: { verify: async () => {} },
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
  await streams.sendTo(list, async () => ({ stream, isNotify: false }), undefined);
  const ended = await enough.promise;
  stream.closed();
  // The first two answers have no pause: one for the request, one for changes since. A timer may be early by a millisecond.
  expect(ended - begun).toBeGreaterThan((ANSWERS - 2) * (PACE_MS - 2));
});

/** Creates a list whose content the test changes. The test decides when streams are notified of a change. */
function startList() {
  const content = { text: 'one', position: 1n };
  let moved = Promise.withResolvers<boolean>();
  const memory = createAnswerMemory({
    maxBytes: 100_000,
    keepsBodies: false,
    position: () => content.position,
    registry: { contentTypes: new Map(), components: new Map() },
    positions: createTagPositions(),
  });
  const streams = createListStreams({
    freshness: { beyond: () => moved.promise },
    streams: { verify: async () => {} },
    failed(error) {
      throw error;
    },
  });
  const answer = async () => Buffer.from(content.text);
  const list = { name: 'list', generation: '', known: memory.create(), answer };
  return {
    change(text: string): void {
      content.text = text;
      content.position++;
    },
    announce(): void {
      moved.resolve(true);
      moved = Promise.withResolvers();
    },
    async follow(last?: string) {
      const stream = createMemoryStream();
      await streams.sendTo(list, async () => ({ stream, isNotify: false }), last);
      const sent = () => [...stream.text().matchAll(/^data: (.*)$/gm)].map(([, text]) => text);
      const lastId = () => [...stream.text().matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
      return { sent, lastId };
    },
  };
}

it('a change reaches all streams, also if one begins before the others have heard of the change', async () => {
  const { change, announce, follow } = startList();
  const first = await follow();
  change('two');
  const second = await follow();
  announce();
  await expect.poll(first.sent).toEqual(['one', 'two']);
  expect(second.sent()).toEqual(['two']);
  change('three');
  announce();
  await expect.poll(first.sent).toEqual(['one', 'two', 'three']);
  expect(second.sent()).toEqual(['two', 'three']);
});

it('a client that reconnects gets no answer that is older than its own', async () => {
  const { change, announce, follow } = startList();
  const first = await follow();
  change('two');
  const second = await follow();
  const again = await follow(second.lastId());
  announce();
  await expect.poll(first.sent).toEqual(['one', 'two']);
  expect(again.sent()).toEqual([]);
});
