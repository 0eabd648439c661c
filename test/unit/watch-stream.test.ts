import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { readLedger } from '../../services/erasure/erasure-ledger.ts';
import { watchReleases } from '../../services/releases/watch-releases.ts';
import { openSynonyms } from '../../services/synonyms/open-synonyms.ts';
import { createSynonymCommands } from '../../services/synonyms/synonym-commands.ts';
import { readWebhooks } from '../../services/webhooks/webhook-commands.ts';
import { erasureStream } from '../../shared/erasure/erasure-events.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { evolveStream, readStreamState, watchStream } from '../../shared/event-store/watch-stream.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { releaseStream } from '../../shared/releases/release-events.ts';
import { synonymStream } from '../../shared/synonyms/synonym-events.ts';
import { webhookStream } from '../../shared/webhooks/webhook-events.ts';

const SPACE = 'varve';
const foreign = () => ({ id: randomUUID(), type: 'order-placed', data: {}, metadata: {} as never });

function openLog() {
  const log = openSqliteEventStore(':memory:', { space: SPACE, decode: upcast });
  onTestFinished(() => log.close());
  return log;
}

it.each([
  ['webhooks', webhookStream, readWebhooks],
  ['erasures', erasureStream, readLedger],
] as const)(
  'the state of %s skips events of other programs and has their revision',
  async (_, stream, read) => {
    const log = openLog();
    for (let n = 0; n < 2; n++) await log.append(stream(SPACE), 'any', [foreign()]);
    expect(await read(log, SPACE)).toMatchObject({ revision: 1n });
  },
);

it('releases skip events of other programs, also those that come later', async () => {
  const log = openLog();
  await log.append(releaseStream(SPACE), 'any', [foreign()]);
  const releases = await watchReleases(log, SPACE, () => {});
  onTestFinished(releases.close);
  await log.append(releaseStream(SPACE), 'any', [foreign()]);
  await releases.latest();
  expect(releases.state()).toMatchObject({ revision: 1n, releases: new Map() });
});

it('synonyms are set behind an event of another program', async () => {
  const log = openLog();
  await log.append(synonymStream(SPACE), 'any', [foreign()]);
  const synonyms = await openSynonyms(log, SPACE);
  onTestFinished(synonyms.close);
  const author = () => ({ actor: { kind: 'operator' }, via: 'test' }) as const;
  const commands = createSynonymCommands({ log, space: SPACE, now: Date.now, author });
  const groups = { en: [['nyc', 'new york city']] };
  expect(await synonyms.applied(await commands.set('*', groups))).toBe(true);
  expect(synonyms.current()).toEqual({ synonyms: { '*': groups }, rules: {} });
});

it('commands read only the synonyms and rules that a process does not know', async () => {
  const log = openLog();
  const author = () => ({ actor: { kind: 'operator' }, via: 'test' }) as const;
  const options = { space: SPACE, now: Date.now, author };
  const others = createSynonymCommands({ log, ...options });
  const [one, two] = [{ en: [['nyc', 'new york city']] }, { en: [['tram', 'streetcar']] }];
  const first = await others.set('*', one);
  const synonyms = await openSynonyms(log, SPACE);
  onTestFinished(synonyms.close);
  expect(await synonyms.applied(first)).toBe(true);
  const before = synonyms.known();
  const read: bigint[] = [];
  async function* readStream(stream: string, from?: bigint) {
    for await (const event of log.readStream(stream, from)) {
      read.push(event.revision);
      yield event;
    }
  }
  const counted = { append: log.append, readStream };
  const commands = createSynonymCommands({ log: counted, ...options, known: () => before });
  expect(await commands.list()).toEqual({ '*': one });
  expect(read).toEqual([]);
  await others.set('api::dish.dish', two);
  expect(await commands.list()).toEqual({ '*': one, 'api::dish.dish': two });
  await commands.setRules('api::dish.dish', [{ when: 'soup', pin: ['a'] }]);
  expect(await others.listRules()).toEqual({ 'api::dish.dish': [{ when: 'soup', pin: ['a'] }] });
  expect(read).toEqual([1n, 1n]);
});

it('applies an event once that is appended while the stream is read, and rejects at one that it cannot read', async () => {
  const log = openLog();
  const stream = `${SPACE}.sums`;
  const metadata = { at: new Date().toISOString(), epoch: 0, via: 'test' };
  const add = () =>
    log.append(stream, 'any', [newEvent({ type: 'webhook-removed', data: { id: 'x' } }, metadata)]);
  type Sum = { readonly revision: bigint | undefined; readonly count: number };
  const count = ({ count: before }: Sum, { revision }: { revision: bigint }) => ({
    revision,
    count: before + 1,
  });
  const initial: Sum = { revision: undefined, count: 0 };
  await add();
  const watched = await watchStream<Sum>(log, {
    stream,
    async read() {
      await add();
      return readStreamState(log.readStream(stream), initial, count);
    },
    evolve: (state, event) => evolveStream(state, event, count),
  });
  onTestFinished(watched.close);
  const last = await add();
  if (last.kind !== 'appended') throw new Error('not appended');
  expect(await watched.applied(last.position, 10_000)).toBe(true);
  expect(watched.state().count).toBe(3);
  const unknown = {
    id: randomUUID(),
    type: 'not-known-yet',
    data: {},
    metadata: { ...metadata, schemaVersion: 1 },
  };
  await Promise.all([
    expect(watched.done).rejects.toThrow('cannot read the event at position'),
    log.append(stream, 'any', [unknown]),
  ]);
  expect(watched.state().count).toBe(3);
});
