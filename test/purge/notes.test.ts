import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentTag } from '../../services/delivery/tag.ts';
import { changesContent } from '../../services/purge/missed-changes.ts';
import { type NotesOptions, openPurgeNotes, type PurgeNotes } from '../../services/purge/purge-notes.ts';
import { createPurgeSender, PURGE_LIMITS } from '../../services/purge/send-purges.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { createDataDirectory } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 30_000 };

describe('events behind a position', () => {
  const eventsOf = (count: number, type = 'token-created') => ({
    async *after(after: bigint, { until = BigInt(count) }: { readonly until?: bigint } = {}) {
      for (let position = after + 1n; position <= until; position++)
        yield { type, position, stream: 'varve.tokens', data: {}, metadata: {} } as unknown as StoredEvent;
    },
  });

  it('may change content if they concern documents, or if there are more than 10,000', async () => {
    expect(await changesContent(eventsOf(10_001), 0n, 10_000n)).toBe(false);
    expect(await changesContent(eventsOf(10_001), 0n, 10_001n)).toBe(true);
    expect(await changesContent(eventsOf(10_001), 5n, 10_001n)).toBe(false);
    expect(await changesContent(eventsOf(10, 'entry-changed'), 3n, 4n)).toBe(true);
    expect(await changesContent(eventsOf(10, 'entry-changed'), 4n, 4n)).toBe(false);
    expect(await changesContent(eventsOf(10), 5n, 4n)).toBe(true);
  });
});

function fail(problem: unknown): never {
  throw problem;
}

const NO_EVENTS: NotesOptions['events'] = { after: async function* () {} };
const LEADING = { isLeading: () => true, moved: () => {}, isKnown: true };

type Given = {
  readonly data: string;
  readonly position: () => bigint;
  readonly replaced?: (file: string) => void;
  readonly events?: NotesOptions['events'];
};

function openNotes({ data, position, replaced = fail, events = NO_EVENTS }: Given) {
  const loaded = loadContentTypes('examples/restaurants');
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return openPurgeNotes({
    data,
    registry: loaded.registry,
    key: new Uint8Array(32),
    rights: () => FULL_ACCESS,
    events,
    position,
    report: { error: fail, replaced },
  });
}

it('purges everything after its file was damaged, and keeps the damaged file', async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const notes = await openNotes({ data, position: () => 1n });
  notes.lead(LEADING);
  notes.store.moveCheckpoint('one', notes.store.newest());
  notes.changed(1n, [documentTag('api::chef.chef', 'published', 'c1')]);
  notes.close();
  const file = join(data, 'purges.db');
  writeFileSync(file, readFileSync(file).fill(7, 4_096));
  const replaced: string[] = [];
  const again = await openNotes({ data, position: () => 1n, replaced: (each) => void replaced.push(each) });
  onTestFinished(again.close);
  again.lead(LEADING);
  expect(replaced).toEqual([file]);
  expect(existsSync(`${file}.damaged`)).toBe(true);
  expect(again.store.hasAllFor('one')).toBe(false);
  expect(again.store.after(0, 10).flatMap(({ names }) => names)).toEqual([again.generation]);
});

describe('two workers with one file', () => {
  const chef = (position: bigint) => [documentTag('api::chef.chef', 'published', `c${position}`)];
  const CONTENT: NotesOptions['events'] = {
    async *after(after, { until = 3n } = {}) {
      const positions = [2n, 3n].filter((position) => position > after && position <= until);
      for (const position of positions)
        yield { type: 'entry-changed', position, data: {}, metadata: {} } as never;
    },
  };

  /** Opens the file in the leader, and then in the worker that replaces it. */
  async function openBoth() {
    const data = createDataDirectory();
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    let isFirst = true;
    const first = await openNotes({ data, position: () => 1n });
    onTestFinished(first.close);
    first.lead({ ...LEADING, isLeading: () => isFirst });
    first.changed(2n, chef(2n));
    const openNext = async (position: bigint) => {
      const next = await openNotes({ data, events: CONTENT, position: () => position });
      onTestFinished(next.close);
      return next;
    };
    return {
      first,
      openNext,
      takeOver(next: PurgeNotes, isKnown = true) {
        isFirst = false;
        next.lead({ ...LEADING, isKnown });
      },
      /** Returns the documents that changes in the file name, after the purge of everything with which it begins. */
      noted: () =>
        first.store
          .after(1, 10)
          .map(({ names, plain }) =>
            names.includes(first.generation) ? 'all' : plain.find((name) => name.includes(':')),
          ),
    };
  }

  it('only the leader writes it', async () => {
    const { first, openNext, takeOver, noted } = await openBoth();
    const next = await openNext(2n);
    next.changed(3n, []);
    expect(noted()).toEqual(['chefs:c2']);
    takeOver(next);
    next.changed(4n, chef(4n));
    // The first worker applies the change later.
    first.changed(4n, chef(4n));
    first.everything();
    expect(noted()).toEqual(['chefs:c2', 'chefs:c4']);
    expect(first.store.noted()).toBe(4n);
  });

  it.each([
    ['it does not know the purges of the first one', 2n, 2n, false],
    ['it applied a change earlier', 2n, 3n, true],
    ['the file lacks a change of its graph', 3n, 3n, true],
  ])('the next leader purges everything if %s', async (_why, opened, applied, isKnown) => {
    const { openNext, takeOver, noted } = await openBoth();
    const next = await openNext(opened);
    if (applied > opened) next.changed(applied, chef(applied));
    takeOver(next, isKnown);
    expect(noted()).toEqual(['chefs:c2', 'all']);
    // Only once.
    takeOver(next);
    expect(noted()).toEqual(['chefs:c2', 'all']);
  });

  it('a start knows that nothing changed if the leader noted it', async () => {
    const { first, openNext, takeOver, noted } = await openBoth();
    first.changed(3n, []);
    first.keep();
    takeOver(await openNext(3n));
    expect(noted()).toEqual(['chefs:c2']);
  });
});

it('keeps 100,000 changes for a receiver that does not answer, and purges everything then', {
  ...takesMinutes('100,000 changes that wait'),
  timeout: 300_000,
}, async () => {
  const receiver = await startReceiver();
  receiver.answer(() => ({ status: 503 }));
  let position = 1n;
  const notes = await openNotes({ data: createDataDirectory(), position: () => position });
  notes.lead(LEADING);
  const { store } = notes;
  const target = { kind: 'webhook', address: receiver.url } as const;
  store.moveCheckpoint(`webhook=${receiver.url}`, store.newest());
  const change = () => {
    position += 1n;
    notes.changed(position, [documentTag('api::chef.chef', 'published', `c${position}`)]);
  };
  for (let n = 0; n < 100_000; n++) change();
  expect(store.hasAllFor(`webhook=${receiver.url}`)).toBe(true);
  for (let n = 0; n < 2_000; n++) change();
  expect(store.hasAllFor(`webhook=${receiver.url}`)).toBe(false);
  receiver.answer(() => ({ status: 200 }));
  const report = { replaced: () => {}, purged: () => {}, failed: () => {}, error: fail };
  const style = { soft: false, token: undefined };
  const sender = createPurgeSender({ ...notes, style, limits: PURGE_LIMITS, report }, target);
  onTestFinished(async () => {
    await sender.close();
    notes.close();
    await receiver.close();
  });
  sender.look();
  await receiver.until(1);
  const [first] = receiver.received.map(({ json }) => json['tags'] as string[]);
  expect(first).toEqual(expect.arrayContaining([notes.generation, 'chefs', 'restaurants', 'cities']));
  await expect.poll(() => store.checkpoint(`webhook=${receiver.url}`), PATIENT).toBe(store.newest());
});
