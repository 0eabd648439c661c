import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, askNode, requestTo } from '../support/kurrentdb/ask-double.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { comparable, readRecorded } from '../support/kurrentdb/recorded-questions.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The double gives the answers of real servers: each recorded question is asked again, in the recorded order. */

type Site = { readonly ask: Ask; readonly double: KurrentDbDouble };
type Questions = { readonly [scenario: string]: (site: Site) => Promise<unknown> };

const SPACE = 's000000';
const named = (stream: string): string => `${SPACE}.${stream}`;
const [a, b, big, c, d] = ['a', 'b', 'big', 'c', 'd'].map(named) as [string, string, string, string, string];
const events = (count: number, bytes?: number) =>
  Array.from({ length: count }, () => ({ id: randomUUID(), ...(bytes !== undefined && { bytes }) }));
const [ONE, THREE, FIRST_OF_B, KNOWN] = [events(1), events(3), events(1), { id: randomUUID() }];
const position = ({ double }: Site, which: 'first' | 'last'): bigint => {
  const own = double.log.read(a) ?? [];
  return (which === 'first' ? own[0] : double.log.records.at(-1))?.position ?? 0n;
};
const space = requestTo(named(''));
const everything = requestTo(undefined);

const LOG: Questions = {
  'a server whose log is shorter than one search window: filtered subscription from the start, no event matches':
    ({ ask }) => ask.read(space.subscription('start')),
  'the same, unfiltered': ({ ask }) => ask.read(everything.subscription('start')),
  'the same, from the end': ({ ask }) => ask.read(space.subscription('end')),
  'head of the log: page backwards from the end, count 1, unfiltered': ({ ask }) =>
    ask.read(everything.page({ from: 'end', backwards: true, count: 1 })),
  'append one event, no stream expected': ({ ask }) => ask.append(a, 'none', ONE),
  'append three events at revision 0': ({ ask }) => ask.append(a, 0n, THREE),
  'wrong revision: 7 expected, 3 is the last': ({ ask }) => ask.append(a, 7n, events(1)),
  'wrong: no stream expected, 3 is the last': ({ ask }) => ask.append(a, 'none', events(1)),
  'wrong: revision 2 expected, there is no stream': ({ ask }) => ask.append(named('never'), 2n, events(1)),
  'batch: right, wrong revision, no stream expected, the first again': ({ ask }) =>
    ask.batch([
      [b, 'none', FIRST_OF_B],
      [b, 9n, events(1)],
      [b, 'none', events(1)],
      [b, 'none', FIRST_OF_B],
    ]),
  'batch: an append above the limit (1 MB)': ({ ask }) => ask.batch([[big, 'none', events(2, 600_000)]]),
  'append above the limit (1 MB)': ({ ask }) => ask.append(big, 'none', events(2, 600_000)),
  'batch: a message above 16 MB': ({ ask }) => ask.batch([[big, 'none', events(1, 17_000_000)]]),
  'stream read from the start': ({ ask }) => ask.read(space.stream(a, { from: 'start', count: 10 })),
  'stream read backwards from the end': ({ ask }) =>
    ask.read(space.stream(a, { from: 'end', backwards: true, count: 2 })),
  'stream read beyond its end': ({ ask }) => ask.read(space.stream(a, { from: 9n, count: 10 })),
  'stream that does not exist': ({ ask }) =>
    ask.read(space.stream(named('never'), { from: 'start', count: 10 })),
  'filtered page forwards from the start': ({ ask }) => ask.read(space.page({ from: 'start', count: 100 })),
  'filtered page from a record of the space (it begins with that record)': (site) =>
    site.ask.read(space.page({ from: position(site, 'first'), count: 2 })),
  'filtered page from a position between two records': (site) =>
    site.ask.read(space.page({ from: position(site, 'first') + 1n, count: 2 })),
  'filtered page backwards from a position between two records': (site) =>
    site.ask.read(space.page({ from: position(site, 'first') + 1n, backwards: true, count: 2 })),
  'filtered page from beyond the end of the log': (site) =>
    site.ask.read(space.page({ from: position(site, 'last') + 1_000_000n, count: 2 })),
  'filtered subscription from the start': ({ ask }) => ask.read(space.subscription('start')),
  'filtered subscription after the first record': (site) =>
    site.ask.read(space.subscription(position(site, 'first'))),
  'filtered subscription after the last record of the space': (site) =>
    site.ask.read(space.subscription(position(site, 'last'))),
  'filtered subscription from between two records': (site) =>
    site.ask.read(space.subscription(position(site, 'first') + 1n)),
  'filtered subscription from beyond the end': (site) =>
    site.ask.read(space.subscription(position(site, 'last') + 1_000_000n)),
  'filtered subscription, then live: two events, five foreign ones, one event': async ({ ask, double }) => {
    const begun = double.observed.starts.length;
    const got = ask.read(space.subscription('end'), false, 3_000);
    while (double.observed.starts.length === begun) await delay(5);
    await ask.append(a, 3n, events(2));
    double.log.addForeign(5);
    await ask.append(c, 'none', events(1));
    return got;
  },
  'soft delete of a stream': async ({ ask }) => {
    await ask.append(d, 'none', events(3));
    return ask.remove(d, 'soft');
  },
  'read of a soft-deleted stream': ({ ask }) => ask.read(space.stream(d, { from: 'start', count: 10 })),
  'append to it, no stream expected': ({ ask }) => ask.append(d, 'none', events(1)),
  'read again': ({ ask }) => ask.read(space.stream(d, { from: 'start', count: 10 })),
  tombstone: ({ ask }) => ask.remove(d, 'for good'),
  'read of a tombstoned stream': ({ ask }) => ask.read(space.stream(d, { from: 'start', count: 10 })),
  'append to it': ({ ask }) => ask.append(d, 'none', events(1)),
  'batch append to it': ({ ask }) => ask.batch([[d, 'none', events(1)]]),
  'a filtered subscription from the start after 15,000 foreign events': ({ ask, double }) => {
    double.log.addForeign(15_000);
    return ask.read(requestTo('nobody.').subscription('start'));
  },
};

const CLAIM = named('claim');
const RECORDS: Questions = {
  'AppendRecords: one record, checks: claim at 0, stream does not exist (-1)': async ({ ask }) => {
    await ask.append(CLAIM, 'none', events(1));
    return ask.appendRecords(
      [[a, KNOWN]],
      [
        [CLAIM, 0n],
        [a, -1n],
      ],
    );
  },
  'AppendRecords: the same record again with the same checks': ({ ask }) =>
    ask.appendRecords(
      [[a, KNOWN]],
      [
        [CLAIM, 0n],
        [a, -1n],
      ],
    ),
  'AppendRecords: three records of one stream': ({ ask }) =>
    ask.appendRecords(rows('a', 'a', 'a'), [
      [CLAIM, 0n],
      [a, 0n],
    ]),
  'AppendRecords: records of three streams, in turns': ({ ask }) =>
    ask.appendRecords(rows('m1', 'm2', 'm3', 'm1'), [[CLAIM, 0n]]),
  'AppendRecords: the condition is not met (claim at 7)': ({ ask }) =>
    ask.appendRecords(rows('a'), [
      [CLAIM, 7n],
      [a, 3n],
    ]),
  'AppendRecords: the stream is elsewhere (5 expected, 3 is the last)': ({ ask }) =>
    ask.appendRecords(rows('a'), [
      [CLAIM, 0n],
      [a, 5n],
    ]),
  'AppendRecords: both are not met': ({ ask }) =>
    ask.appendRecords(rows('a'), [
      [CLAIM, 7n],
      [a, 5n],
    ]),
  'AppendRecords: two of three streams are not met': ({ ask }) =>
    ask.appendRecords(rows('n1', 'n2', 'n3'), [
      [named('n1'), 4n],
      [named('n2'), -1n],
      [named('n3'), 4n],
    ]),
  'AppendRecords: a tombstoned stream': async ({ ask }) => {
    await ask.append(named('t'), 'none', events(1));
    await ask.remove(named('t'), 'for good');
    return ask.appendRecords(rows('t'), [[named('t'), 0n]]);
  },
  'AppendRecords: a soft-deleted stream, does not exist expected': async ({ ask }) => {
    await ask.append(named('s'), 'none', events(1));
    await ask.remove(named('s'), 'soft');
    return ask.appendRecords(rows('s'), [[named('s'), -1n]]);
  },
  'AppendRecords: a record of 17 MB': ({ ask }) =>
    ask.appendRecords([[named('x'), { id: randomUUID(), bytes: 17_000_000 }]], []),
  'AppendRecords: 12 records of 1.4 MB': ({ ask }) =>
    ask.appendRecords(
      events(12, 1_400_000).map((event) => [named('x'), event]),
      [],
    ),
  'what AppendRecords stored': ({ ask }) => ask.read(space.stream(a, { from: 'start', count: 10 })),
};

const rows = (...streams: readonly string[]) =>
  streams.map((stream) => [named(stream), { id: randomUUID() }] as const);

const FOLLOWER: Questions = {
  'subscription that requires the leader': ({ ask }) => ask.read(space.subscription('start'), true),
  'subscription that does not': ({ ask }) => ask.read(requestTo('nobody.').subscription('start')),
  'page that requires the leader': ({ ask }) => ask.read(space.page({ from: 'start', count: 2 }), true),
  'append that requires the leader': ({ ask }) => ask.append(named('f'), 'none', events(1), true),
  'append that does not (it is forwarded)': ({ ask }) => ask.append(named('f'), 'none', events(1)),
  'batch append': ({ ask }) => ask.batch([[c, 'none', FIRST_OF_B]]),
  AppendRecords: ({ ask }) => ask.appendRecords(rows('f'), []),
  'AppendRecords, every 0.4 s': ({ ask }) => ask.appendRecords(rows('f'), []),
};

/** A server answers the writes of a batch call in any order, and may answer one after the recording ended. */
const kindsOf = (answers: unknown): ReadonlySet<string> =>
  new Set((answers as unknown[]).map((each) => JSON.stringify(comparable(each))));

/** Questions that another test asks, or that depend on the machine. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'the same append again': 'asked with the append before it',
  'a subscriber that does not read for 4 s while 6,000 events of 2 kB are written':
    'test/unit/kurrentdb-faults.test.ts',
  'supported methods': 'a test of its own: the double has the calls of the adapter only',
};

const lengthOf = (got: unknown): number => (Array.isArray(got) ? got.length : 0);

describe('a server of version 26.1', () => describeServer('26.1'));
describe('a server of version 24.2', takesMinutes('answers of version 24.2 of KurrentDB'), () =>
  describeServer('24.2'),
);

/** Asks a double everything that a real server of this version was asked. */
function describeServer(server: DoubleVersion): void {
  const recorded = readRecorded(server);
  const sites: Site[] = [];
  const start = async (leader?: KurrentDbDouble): Promise<Site> => {
    const limit = server === '24.2' ? { maxAppendSize: 1_048_576 } : {};
    const double = await startKurrentDbDouble({ server, ...limit });
    if (leader !== undefined) double.follow(leader);
    const site = { double, ask: askNode(double.port) };
    sites.push(site);
    return site;
  };
  afterAll(() => {
    for (const { ask, double } of sites) {
      ask.close();
      double.stop();
    }
  });

  describe('one node', () => {
    let site: Site;
    let other: Site;
    beforeAll(async () => {
      site = await start();
      other = await start();
    });
    const own = recorded.filter((each) => each.server === 'one node' && !(each.scenario in ELSEWHERE));
    it.each(own.map((each) => [each.scenario, each] as const))('%s', async (scenario, { got }) => {
      const question = LOG[scenario] ?? RECORDS[scenario];
      if (question === undefined) throw new Error(`no question asks: ${scenario}`);
      const asked = scenario in LOG ? site : other;
      asked.ask.expect(lengthOf(comparable(got)));
      const answer = await question(asked);
      if (scenario.startsWith('batch: right')) expect(kindsOf(answer)).toEqual(kindsOf(got));
      else expect(comparable(answer)).toEqual(comparable(got));
    });
    it('repeats the answer of an append that it has stored', async () => {
      expect(await site.ask.append(a, 'none', ONE)).toMatchObject({ success: { currentRevision: '0' } });
      expect(await site.ask.append(a, 0n, THREE)).toMatchObject({ success: { currentRevision: '3' } });
    });
    it('reports its calls', () => {
      const methods = recorded.find((each) => each.scenario === 'supported methods')?.got;
      expect(methods).toMatchObject({ version: `${server}.0` });
      const { methods: names } = methods as { methods: readonly string[] };
      expect(names.some((name) => name.endsWith('/appendrecords'))).toBe(server === '26.1');
    });
  });

  const follower = recorded.filter((each) => each.server !== 'one node' && !(each.scenario in ELSEWHERE));
  const situations = Map.groupBy(follower, ({ scenario }) => scenario.split(': ')[0] ?? '');
  describe.each([...situations])('%s', (situation, questions) => {
    let site: Site;
    beforeAll(async () => {
      const { double: leader } = await start();
      site = await start(leader);
      if (situation === 'two of three are down') site.double.follow('nobody');
    });
    it.each(questions.map((each) => [each.scenario, each] as const))('%s', async (scenario, { got }) => {
      const question = FOLLOWER[scenario.slice(situation.length + 2)];
      if (question === undefined) throw new Error(`no question asks: ${scenario}`);
      site.ask.expect(lengthOf(comparable(got)));
      expect(comparable(await question(site))).toEqual(comparable(got));
    });
  });
}
