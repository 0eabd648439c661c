import { expect, it } from 'vitest';
import type { WriteOutcome } from '../../shared/read-index/document-index.ts';
import { changed, connect, created } from './graph-fixture.ts';
import { openSetting, SOME, type WriterSetting, wanted } from './writer-fixture.ts';

const REASON = 'es_rejected_execution_exception: rejected execution of primary operation';
const AGAIN: WriteOutcome = { kind: 'again', reason: REASON };
const FAST = { leastMs: 0, backoff: { firstMs: 1, longestMs: 20 } };

/** Returns events that create many restaurants. */
function manyRestaurants(count: number) {
  return Array.from({ length: count }, (_, n) =>
    created('restaurant', `m${n}`, { values: { name: `m${n}` }, relations: [connect('chef', 'anna')] }),
  );
}

/** Returns the names of the documents whose row has this name. */
function namesOf(setting: WriterSetting, name: string): ReadonlySet<string> {
  const found = [...wanted(setting)].filter(([, text]) => text.includes(`"${name}"`));
  return new Set(found.map(([key]) => key));
}

const kindsOf = ({ reports }: WriterSetting) => reports.map(({ kind }) => kind);

it.each([
  ['the request as a whole', true],
  ['all documents of its index in the same request', false],
])(
  'parks a document that is refused for a passing reason with %s, and writes all others',
  async (_, isWhole) => {
    const setting = openSetting(FAST);
    setting.given(...SOME, ...manyRestaurants(300));
    const heavy = namesOf(setting, 'm123');
    expect(heavy.size).toBe(1);
    const isHeavy = (names: readonly string[]) => names.some((name) => heavy.has(name));
    const indexOf = (name: string) => name.split(' ').slice(0, 2).join(' ');
    setting.index.behave({
      fails: (names) => (isWhole && isHeavy(names) ? new Error(REASON) : undefined),
      outcome(name) {
        const sent = setting.index.requests.at(-1) ?? [];
        const isSameIndex = [...heavy].some((each) => indexOf(each) === indexOf(name));
        return !isWhole && isSameIndex && isHeavy(sent) ? AGAIN : undefined;
      },
    });
    const writer = setting.start();
    await writer.visible(setting.graph.position());
    await writer.caughtUp();
    expect(setting.index.visible.size).toBe(wanted(setting).size - 1);
    expect(setting.graph.stale?.parked.list()).toMatchObject([{ documentId: 'm123', reason: REASON }]);
    expect(setting.reports).toMatchObject([
      {
        kind: 'refused',
        documents: [{ type: 'api::restaurant.restaurant', documentId: 'm123', locale: null, reason: REASON }],
      },
    ]);
    expect(writer.shown()).toBe(setting.graph.position());

    setting.index.behave({});
    await writer.visible(setting.given(changed('restaurant', 'm123', { values: { name: 'light' } })));
    await writer.caughtUp();
    expect(setting.index.visible).toEqual(wanted(setting));
    expect(setting.graph.stale?.parked.list()).toEqual([]);
  },
);

it('writes other documents while a refused one is tried again', async () => {
  const setting = openSetting({ attempts: 1_000, longestMs: 600_000, backoff: { firstMs: 1, longestMs: 5 } });
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  setting.index.behave({ outcome: (name) => (name === heavy ? AGAIN : undefined) });
  const writer = setting.start();
  const first = setting.graph.position();
  for (let n = 0; n < 20; n++)
    await writer.visible(setting.given(changed('restaurant', 'r1', { values: { name: `Eins ${n}` } })));
  expect(kindsOf(setting)).toEqual([]);
  expect(setting.graph.stale?.parked.list()).toEqual([]);
  // The position that is published does not include the document.
  expect(writer.shown()).toBeLessThan(first);
  setting.index.behave({});
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('parks nothing while the index accepts nothing, however often it is tried', async () => {
  const setting = openSetting(FAST);
  setting.given(...SOME);
  setting.index.behave({ outcome: () => AGAIN, accepts: () => false });
  const writer = setting.start();
  await expect.poll(() => setting.index.requests.length).toBeGreaterThan(5);
  expect(setting.graph.stale?.parked.list()).toEqual([]);
  expect(kindsOf(setting)).toEqual(['stuck']);
  setting.index.behave({});
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(kindsOf(setting)).toEqual(['stuck', 'recovered']);
});

it('does not count refusals of a document while its index is busy', async () => {
  const setting = openSetting(FAST);
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  let isBusy = false;
  let refusals = 0;
  setting.index.behave({
    outcome(name) {
      if (name === heavy) refusals++;
      isBusy = name === heavy && refusals > 1;
      return name === heavy ? AGAIN : undefined;
    },
    accepts: () => !isBusy,
  });
  const writer = setting.start();
  await expect.poll(() => refusals).toBeGreaterThan(20);
  expect(setting.graph.stale?.parked.list()).toEqual([]);
  setting.index.behave({});
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('parks a document whose request alone gets no answer', async () => {
  const setting = openSetting({ ...FAST, requestMs: 30 });
  setting.given(...SOME);
  const [heavy = ''] = namesOf(setting, 'Two');
  let isFirst = true;
  setting.index.behave({
    // The lane itself would wait a minute.
    fails(names) {
      const fails = isFirst && names.includes(heavy);
      if (fails) isFirst = false;
      return fails ? new Error('Request timed out') : undefined;
    },
    before: (names) => (!isFirst && names.includes(heavy) ? new Promise(() => {}) : Promise.resolve()),
  });
  const writer = setting.start();
  await writer.caughtUp();
  expect(setting.graph.stale?.parked.list()).toMatchObject([
    { documentId: 'r2', reason: 'no answer within 0.03 s' },
  ]);
});

it('parks a document after a time even if it was tried less often', async () => {
  const setting = openSetting({ attempts: 1_000, longestMs: 50, backoff: { firstMs: 20, longestMs: 20 } });
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  let tries = 0;
  setting.index.behave({
    outcome(name) {
      if (name === heavy) tries++;
      return name === heavy ? AGAIN : undefined;
    },
  });
  await setting.start().caughtUp();
  expect(setting.graph.stale?.parked.list()).toMatchObject([{ documentId: 'r2' }]);
  expect(tries).toBeLessThan(50);
});

it('rests after an attempt at a document, for longer the longer it took to make it', async () => {
  const setting = openSetting({ ...FAST, leastMs: 1_000, longestMs: 600_000 });
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  const { present } = setting.index;
  let made = 0;
  Object.assign(setting.index, {
    present(...given: Parameters<typeof present>): ReturnType<typeof present> {
      const [{ type, world, key }] = given;
      const busyUntil = Date.now() + 20;
      if (`${type} ${world} ${key}` === heavy) {
        made++;
        while (Date.now() < busyUntil);
      }
      return present(...given);
    },
  });
  setting.index.behave({ outcome: (name) => (name === heavy ? AGAIN : undefined) });
  await setting.start().caughtUp();
  expect(setting.graph.stale?.parked.list()).toMatchObject([{ documentId: 'r2' }]);
  // In a second and its last rest, 20 ms of every 120 ms. On a slower machine it is made less often.
  expect(made).toBeLessThan(16);
});

it('does not park a document that is refused several times in a short time', async () => {
  const setting = openSetting({ ...FAST, leastMs: 60_000 });
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  let tries = 0;
  setting.index.behave({ outcome: (name) => (name === heavy && ++tries < 10 ? AGAIN : undefined) });
  const writer = setting.start();
  await writer.caughtUp();
  expect(tries).toBe(10);
  expect(setting.graph.stale?.parked.list()).toEqual([]);
  expect(kindsOf(setting)).not.toContain('refused');
});

it('keeps a change that arrives while the document is tried', async () => {
  const setting = openSetting(FAST);
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  let isChanged = false;
  setting.index.behave({
    outcome(name, text) {
      if (name !== heavy || !text.includes('"Two"')) return undefined;
      if (!isChanged) {
        isChanged = true;
        queueMicrotask(() => setting.given(changed('restaurant', 'r2', { values: { name: 'Zwei' } })));
      }
      return AGAIN;
    },
  });
  const writer = setting.start();
  await writer.caughtUp();
  await writer.visible(setting.graph.position());
  expect(isChanged).toBe(true);
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(setting.graph.stale?.parked.list()).toEqual([]);
});

it('begins again with the suspects of a writer that was stopped', async () => {
  const setting = openSetting({ attempts: 1_000, longestMs: 600_000, backoff: { firstMs: 1, longestMs: 5 } });
  setting.given(...SOME);
  const [heavy] = namesOf(setting, 'Two');
  let tries = 0;
  setting.index.behave({
    outcome(name) {
      if (name === heavy) tries++;
      return name === heavy ? AGAIN : undefined;
    },
  });
  const first = setting.start();
  await expect.poll(() => tries).toBeGreaterThan(3);
  await first.close();
  setting.index.behave({});
  await setting.start().caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('sends a parked document again later if the reason may have passed, and others never', async () => {
  const setting = openSetting(FAST, { firstMs: 30, longestMs: 60 });
  setting.given(...SOME);
  const [[busy], [wrong]] = [namesOf(setting, 'One'), namesOf(setting, 'Two')];
  const sent: string[] = [];
  setting.index.behave({
    outcome(name) {
      sent.push(name);
      if (name === busy) return AGAIN;
      return name === wrong ? { kind: 'refused', reason: 'document_parsing_exception: x' } : undefined;
    },
  });
  const writer = setting.start();
  await writer.caughtUp();
  const timesSent = (name: string | undefined) => sent.filter((each) => each === name).length;
  // Three attempts park it. Each later attempt parks it again.
  await expect.poll(() => timesSent(busy)).toBeGreaterThan(8);
  expect(kindsOf(setting).every((kind) => kind === 'refused')).toBe(true);
  setting.index.behave({
    outcome: (name) => (name === wrong ? { kind: 'refused', reason: 'x' } : undefined),
  });
  const parked = () => setting.graph.stale?.parked.all().map(({ documentId }) => documentId);
  await expect.poll(parked).toEqual(['r2']);
  expect(setting.index.visible.get(busy ?? '')).toBe(wanted(setting).get(busy ?? ''));
  expect(timesSent(wrong)).toBe(1);
});
