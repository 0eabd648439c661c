import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joinSearches } from '../../shared/read-index/elasticsearch/wire/join-searches.ts';
import type {
  SearchAnswer,
  SearchOutcome,
} from '../../shared/read-index/elasticsearch/wire/search-answer.ts';
import type { WrittenSearch } from '../../shared/read-index/elasticsearch/wire/write-search.ts';

const search = (text: string, isPlain = true): WrittenSearch => ({ index: 'a', text, isPlain });
const answerTo = ({ text }: WrittenSearch): SearchAnswer => ({
  hits: { total: { value: Number(text) }, hits: [] },
});
const totals = (answers: readonly SearchAnswer[]) => answers.map(({ hits }) => hits.total?.value);

/** Creates a cluster that answers each search with its own text as the total. `-1` fails. A request takes `took` milliseconds. */
function cluster() {
  const requests: string[][] = [];
  const clock = { now: 0, took: 1 };
  const send = async (searches: readonly WrittenSearch[]): Promise<readonly SearchOutcome[]> => {
    requests.push(searches.map(({ text }) => text));
    clock.now += clock.took;
    return searches.map((each) =>
      each.text === '-1'
        ? { kind: 'failed', error: new Error('refused') }
        : { kind: 'answered', answer: answerTo(each) },
    );
  };
  return { requests, clock, ask: joinSearches({ send, now: () => clock.now }) };
}

describe('concurrent searches', () => {
  it('are sent in one request, up to four of them, and each gets its own answer', async () => {
    const { requests, ask } = cluster();
    const answers = await Promise.all([...'123456789'].map((text) => ask([search(text)])));
    expect(answers.map(totals)).toEqual([...'123456789'].map((text) => [Number(text)]));
    expect(requests).toEqual([[...'1234'], [...'5678'], ['9']]);
    await ask([search('10')]);
    expect(requests.at(-1)).toEqual(['10']);
  });

  it('stay together if one caller sends several, of any number', async () => {
    const { requests, ask } = cluster();
    const several = [...'123456789'].map((text) => search(text));
    const answers = await Promise.all([ask([search('10'), search('11')]), ask(several), ask([search('12')])]);
    expect(answers.map(totals)).toEqual([[10, 11], [1, 2, 3, 4, 5, 6, 7, 8, 9], [12]]);
    expect(requests).toEqual([['10', '11'], [...'123456789'], ['12']]);
  });

  it('are sent once if several are equal', async () => {
    const { requests, ask } = cluster();
    const answers = await Promise.all([ask([search('1'), search('2')]), ask([search('2')])]);
    expect(answers.map(totals)).toEqual([[1, 2], [2]]);
    expect(requests).toEqual([['1', '2']]);
  });

  it('are not mixed with others that are read in another way', async () => {
    const { requests, ask } = cluster();
    await Promise.all([ask([search('1')]), ask([search('2', false)]), ask([search('3')])]);
    expect(requests).toEqual([['1', '3'], ['2']]);
  });

  it('fail only for the callers of the failed searches', async () => {
    const { ask } = cluster();
    const asked = [ask([search('1')]), ask([search('2'), search('-1')]), ask([search('3')])];
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('are sent one by one for a second after some took long', async () => {
    const { requests, clock, ask } = cluster();
    clock.took = 150;
    await ask([search('1')]);
    clock.took = 1;
    await Promise.all([ask([search('2')]), ask([search('3')])]);
    expect(requests).toEqual([['1'], ['2'], ['3']]);
    clock.now += 1_000;
    await Promise.all([ask([search('4')]), ask([search('5')])]);
    expect(requests.at(-1)).toEqual(['4', '5']);
  });
});

/** Creates a cluster that answers a request when the test calls its function in `underWay`. */
function slowCluster() {
  const requests: string[][] = [];
  const underWay: (() => void)[] = [];
  const send = (searches: readonly WrittenSearch[]): Promise<readonly SearchOutcome[]> => {
    requests.push(searches.map(({ text }) => text));
    return new Promise((resolve) =>
      underWay.push(() => resolve(searches.map((each) => ({ kind: 'answered', answer: answerTo(each) })))),
    );
  };
  const clock = { now: 0 };
  const ask = joinSearches({ send, now: () => clock.now });
  const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  const askInTurns = async (...texts: readonly string[]) => {
    for (const text of texts) {
      void ask([search(text)]);
      await turn();
    }
  };
  return { requests, underWay, askInTurns, turn, clock };
}

describe('while four requests are in flight', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('searches wait until one of them is answered, and are then sent together', async () => {
    const { requests, underWay, askInTurns, turn } = slowCluster();
    await askInTurns('1', '2', '3', '4', '5', '6');
    expect(requests).toEqual([['1'], ['2'], ['3'], ['4']]);
    underWay[1]?.();
    await turn();
    expect(requests.slice(4)).toEqual([['5', '6']]);
  });

  it('searches wait for at most a millisecond', async () => {
    const { requests, askInTurns } = slowCluster();
    await askInTurns('1', '2', '3', '4', '5', '6');
    vi.advanceTimersByTime(1);
    expect(requests.slice(4)).toEqual([['5', '6']]);
    await askInTurns('7');
    expect(requests).toHaveLength(5);
    vi.advanceTimersByTime(1);
    expect(requests.slice(5)).toEqual([['7']]);
  });

  it('searches do not wait once there are enough for a request', async () => {
    const { requests, askInTurns } = slowCluster();
    await askInTurns('1', '2', '3', '4', '5', '6', '7');
    expect(requests).toHaveLength(4);
    await askInTurns('8');
    expect(requests.slice(4)).toEqual([['5', '6', '7', '8']]);
  });

  it('searches do not wait after slow ones', async () => {
    const { requests, underWay, askInTurns, turn, clock } = slowCluster();
    await askInTurns('1', '2', '3', '4', '5');
    clock.now += 150;
    underWay[0]?.();
    await turn();
    await askInTurns('6', '7');
    expect(requests.slice(4)).toEqual([['5'], ['6'], ['7']]);
  });
});
