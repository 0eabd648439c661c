import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import {
  createEventStreams,
  type EventStream,
  STREAM_LIMITS,
  type StreamLimits,
} from '../../services/http/streams/event-streams.ts';
import { createTickets, TICKET_MS } from '../../services/http/streams/tickets.ts';
import { countOwnStreams, type StreamCounts } from '../../shared/count-streams.ts';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { type EventReader, openEvents } from '../support/event-source.ts';
import { readFeed } from '../support/feed-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let token: string;
let ask: Ask;

const ARGUMENTS = ['--stream-heartbeat', '50', '--streams', '60', '--streams-per-caller', '20'];

beforeAll(async () => {
  server = await startServer({ arguments: ARGUMENTS });
  token = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  ask = createAsk(server.url, token);
});
afterAll(() => server?.dispose());

async function createTag(key: string): Promise<string> {
  const { status, body } = await ask('/api/tags', { method: 'POST', body: { data: { key, name: key } } });
  expect(status).toBe(201);
  return body.data.documentId;
}

async function follow(query: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
  const authorization = `Bearer ${token}`;
  const reader = await openEvents(`${server.url}/api/_changes?${query}`, { authorization, ...headers });
  onTestFinished(reader.close);
  return reader;
}

const itemsOf = (reader: EventReader): readonly FeedItem[] =>
  reader.events
    .filter(({ event }) => event === 'changes')
    .flatMap(({ data }) => (JSON.parse(data) as { data: FeedItem[] }).data);
const idsOf = (reader: EventReader) =>
  itemsOf(reader).map(({ event, documentId }) => `${event} ${documentId}`);
const latest = async (query: string) => (await readFeed(ask, query)).next;

describe('a stream of changes', () => {
  it('lists the existing rows, and sends each change when it happens', async () => {
    const before = await createTag('s1');
    const reader = await follow('types=tags');
    await reader.until(() => idsOf(reader).includes(`create ${before}`));
    const after = await createTag('s2');
    await reader.until(() => idsOf(reader).includes(`create ${after}`));
    expect(reader.retry()).toBeGreaterThanOrEqual(500);
  });

  it('continues after Last-Event-ID without a gap or a repetition, and its id is a token of the feed', async () => {
    const since = await latest('types=tags');
    const first = await follow(`types=tags&since=${since}`);
    const a = await createTag('r1');
    await first.until(() => idsOf(first).length === 1);
    first.close();
    const b = await createTag('r2');
    const second = await follow(`types=tags&since=${since}`, { 'last-event-id': first.lastId() });
    await second.until(() => idsOf(second).length >= 1);
    const c = await createTag('r3');
    await second.until(() => idsOf(second).length >= 2);
    expect([...idsOf(first), ...idsOf(second)]).toEqual([a, b, c].map((id) => `create ${id}`));
    expect(
      (await readFeed(ask, 'types=tags', first.lastId())).items.map(({ documentId }) => documentId),
    ).toEqual([b, c]);
  });

  it('sends heartbeats, which carry an id', async () => {
    const reader = await follow(`types=tags&since=${await latest('types=tags')}`);
    await reader.until(() => reader.comments() > 3 && reader.lastId() !== '');
    expect(reader.events).toEqual([]);
  });

  it('sends a reset if the reader has to begin again', async () => {
    const reader = await follow('types=tags', { 'last-event-id': '1.abcdefghijklmnopqrstuv' });
    await reader.until(() => itemsOf(reader).length > 0);
    expect(reader.events[0]).toMatchObject({ event: 'reset', id: '' });
    expect(reader.events[1]?.event).toBe('changes');
  });

  it('is refused like a page', async () => {
    await expect(follow('types=nothing')).rejects.toThrow(/^400 .*nothing/);
    await expect(openEvents(`${server.url}/api/_changes`)).rejects.toThrow(/^403/);
  });
});

it.each(['Text/Event-Stream', 'text/event-stream;q=0.9, */*'])(
  'Accept: %s asks for a stream',
  async (accept) => {
    const reader = await follow('types=tags', { accept });
    await reader.until(() => itemsOf(reader).length > 0);
  },
);

it.each(['text/event-streams', 'text/event-stream;q=0, application/json', 'text/event-stream ; q=0.000'])(
  'Accept: %s does not',
  async (accept) => {
    const headers = { accept, authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api/_changes?types=tags`, { headers });
    expect(await answer.json()).toHaveProperty('meta.next');
  },
);

describe('a live list', () => {
  const open = async (query: string, headers: Readonly<Record<string, string>> = {}) => {
    const reader = await openEvents(`${server.url}/api/${query}`, {
      authorization: `Bearer ${token}`,
      ...headers,
    });
    onTestFinished(reader.close);
    return reader;
  };
  const keysOf = ({ events }: EventReader) =>
    events.map(({ data }) => (JSON.parse(data) as { data: { key: string }[] }).data.map(({ key }) => key));

  it('sends its answer, and a new one only when the answer changes', async () => {
    const list = await open('tags?filters[key][$startsWith]=live&live=true&fields=key&sort=key');
    const notified = await open('tags?live=notify&filters[key][$startsWith]=live&fields=key&sort=key');
    await list.until(() => list.events.length === 1);
    await createTag('other');
    const id = await createTag('live1');
    await list.until(() => list.events.length === 2);
    await notified.until(() => notified.events.length === 1);
    // The list does not change for a value that it does not show, or for another document.
    await ask(`/api/tags/${id}`, { method: 'PUT', body: { data: { name: 'shown nowhere' } } });
    await createTag('live2');
    await list.until(() => list.events.length === 3);
    expect(keysOf(list)).toEqual([[], ['live1'], ['live1', 'live2']]);
    expect(new Set(notified.events.map(({ data }) => data))).toEqual(new Set(['{"changed":true}']));
    const same = await open('tags?filters[key][$startsWith]=live&live=true&fields=key&sort=key', {
      'last-event-id': list.lastId(),
    });
    await createTag('live3');
    await same.until(() => same.events.length === 1);
    expect(keysOf(same)).toEqual([['live1', 'live2', 'live3']]);
  });

  it("has Strapi 4's form if the request asks for it", async () => {
    const query = 'tags?live=true&fields=key&pagination[pageSize]=1&sort=key';
    const [plain, shaped] = [await open(query), await open(query, { 'strapi-response-format': 'v4' })];
    for (const list of [plain, shaped]) await list.until(() => list.events.length === 1);
    const first = (list: EventReader) => JSON.parse(list.events[0]?.data ?? '').data[0];
    expect(first(shaped)).toMatchObject({ attributes: { key: first(plain).key } });
  });

  it('shows drafts only to callers with that right', async () => {
    const list = await open('articles?status=draft&live=true&fields=key&filters[key]=draft-live');
    await ask('/api/articles?status=draft', {
      method: 'POST',
      body: { data: { key: 'draft-live', title: 'a' } },
    });
    await list.until(() => list.events.length === 2);
    expect(keysOf(list)).toEqual([[], ['draft-live']]);
    const reader = await createTokenOver(ask, { name: 'no drafts', type: 'read-only' });
    const authorization = `Bearer ${reader}`;
    await expect(open('articles?status=draft&live=true', { authorization })).rejects.toThrow(/^400/);
  });

  it.each(['tags?live=maybe', 'tags', 'tags?live=true&nonsense=1'])('%s is refused', async (query) => {
    await expect(open(query)).rejects.toThrow(/^400/);
  });
});

describe('a ticket', () => {
  const ticket = async (as: Ask = ask) => {
    const { status, body } = await as('/_varve/tickets', { method: 'POST' });
    expect(status).toBe(201);
    return body.data.ticket as string;
  };

  it('opens one stream with the rights of its caller', async () => {
    const own = await ticket();
    const reader = await openEvents(`${server.url}/api/_changes?types=tags&ticket=${own}`);
    onTestFinished(reader.close);
    await reader.until(() => itemsOf(reader).length > 0);
    await expect(openEvents(`${server.url}/api/_changes?types=tags&ticket=${own}`)).rejects.toThrow(/^401/);
    await expect(openEvents(`${server.url}/api/_changes?ticket=${own.slice(1)}`)).rejects.toThrow(/^401/);
    const two = `ticket=${await ticket()}&ticket=${await ticket()}`;
    await expect(openEvents(`${server.url}/api/_changes?${two}`)).rejects.toThrow(/^400 .*there twice/);
    const anonymous = await ticket(createAsk(server.url));
    await expect(openEvents(`${server.url}/api/_changes?ticket=${anonymous}`)).rejects.toThrow(/^403/);
  });
});

it('a ticket is accepted in the term in which it was made, once', () => {
  const tickets = createTickets(Buffer.alloc(32));
  const { ticket } = tickets.create(undefined, 'one');
  expect(() => tickets.use(ticket, 'other')).toThrow('The ticket is unknown');
  tickets.use(ticket, 'one');
  expect(() => tickets.use(ticket, 'one')).toThrow('The ticket is unknown');
});

it('a ticket expires', () => {
  let now = 0;
  const tickets = createTickets(Buffer.alloc(32), () => now);
  const [first, second] = [tickets.create('Bearer a', 'term'), tickets.create('Bearer b', 'term')];
  now = TICKET_MS - 1;
  tickets.use(first.ticket, 'term');
  expect(tickets.read(first.ticket)).toBe('Bearer a');
  now = TICKET_MS;
  expect(() => tickets.use(second.ticket, 'term')).toThrow('The ticket is unknown');
  expect(() => tickets.read(second.ticket)).toThrow('The ticket is unknown');
});

describe('a stream ends', () => {
  it('when its token is revoked or expires, or public rights change', async () => {
    const revoked = await createTokenOver(ask, { name: 'revoked', type: 'read-only' });
    const { body } = await ask('/_varve/tokens');
    const { id } = body.data.find(({ name }: { readonly name: string }) => name === 'revoked');
    await ask('/_varve/public', { method: 'PUT', body: { data: { allow: ['tag.find'] } } });
    const expires = new Date(Date.now() + 5_000).toISOString();
    const expiring = await createTokenOver(ask, { name: 'expiring', type: 'read-only', expires });
    const stays = await follow('types=tags');
    const [one, other] = [
      await follow('types=tags', { authorization: `Bearer ${revoked}` }),
      await follow('types=tags', { authorization: `Bearer ${expiring}` }),
    ];
    const everyone = await openEvents(`${server.url}/api/_changes?types=tags`);
    await ask(`/_varve/tokens/${id}`, { method: 'DELETE' });
    await one.until((reader) => reader.isEnded());
    await ask('/_varve/public', { method: 'PUT', body: { data: { allow: ['tag.find', 'article.find'] } } });
    await everyone.until((reader) => reader.isEnded());
    await other.until((reader) => reader.isEnded());
    expect(stays.isEnded()).toBe(false);
  });

  it('before it sends anything that was written after its token was revoked', async () => {
    await createTag('in time');
    const secret = await createTokenOver(ask, { name: 'leaving', type: 'read-only' });
    const { body } = await ask('/_varve/tokens');
    const { id } = body.data.find(({ name }: { readonly name: string }) => name === 'leaving');
    const authorization = `Bearer ${secret}`;
    const feed = await follow('types=tags', { authorization });
    const list = await openEvents(`${server.url}/api/tags?live=true&sort=key`, { authorization });
    onTestFinished(list.close);
    for (const reader of [feed, list]) await reader.until(({ events }) => events.length === 1);
    await ask(`/_varve/tokens/${id}`, { method: 'DELETE' });
    await createTag('too late');
    for (const reader of [feed, list]) await reader.until((each) => each.isEnded());
    expect([feed.events.length, list.events.length]).toEqual([1, 1]);
  });

  it('is not closed at the limit: further streams are refused', async () => {
    const own = await createTokenOver(ask, { name: 'limited', type: 'read-only' });
    const open = () => follow('types=tags', { authorization: `Bearer ${own}` });
    const readers = await Promise.all(Array.from({ length: 20 }, open));
    await expect(open()).rejects.toThrow(/^429 .*--streams-per-caller/);
    readers[0]?.close();
    await expect.poll(() => open().then(() => 200, String), { timeout: 10_000 }).toBe(200);
  });

  /** Starts an application without content, and its streams. */
  const startStreams = async (limits: Partial<StreamLimits>, counts = countOwnStreams()) => {
    const app = fastify();
    const streams = createEventStreams({
      limits: { ...STREAM_LIMITS, ...limits },
      counts,
      rightsOf: () => 'same',
      watchRights: () => {},
    });
    const opened = Promise.withResolvers<EventStream>();
    app.get('/:id', async (request, reply) => {
      const { id } = request.params as { readonly id: string };
      const caller = { id, authorization: undefined, rights: 'same', user: undefined, expires: undefined };
      opened.resolve(await streams.open(request, reply, caller));
    });
    const sockets: Socket[] = [];
    app.server.on('connection', (socket) => void sockets.push(socket));
    const url = await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const open = async (id: string) => {
      const reader = await openEvents(`${url}/${id}`);
      onTestFinished(reader.close);
      return reader;
    };
    return { streams, opened: opened.promise, open, sockets };
  };

  it('does not begin above the limit of its process', async () => {
    const { streams, open } = await startStreams({ total: 3, perCaller: 2 });
    const [first] = [await open('a'), await open('a'), await open('b')];
    await expect(open('c')).rejects.toThrow(/^500 .*3 streams are open.* raise --streams"/);
    first?.close();
    await expect.poll(streams.count, { timeout: 10_000 }).toBe(2);
    await open('c');
  });

  it('when its process stops, not all at the same time, and no further stream begins', async () => {
    const { streams, open } = await startStreams({});
    const readers = [];
    for (let n = 0; n < 20; n++) readers.push(await open('a'));
    for (const reader of readers) await reader.until(() => reader.retry() !== undefined);
    const before = readers.map((reader) => reader.retry());
    streams.leave();
    for (const reader of readers) await reader.until(() => reader.isEnded());
    const retries = readers.map((reader) => reader.retry());
    for (const ms of [...before, ...retries]) {
      expect(ms).toBeGreaterThanOrEqual(500);
      expect(ms).toBeLessThanOrEqual(5_000);
    }
    expect(new Set(retries).size).toBeGreaterThan(10);
    await expect(open('a')).rejects.toThrow('This process is stopping: connect again');
    expect(streams.count()).toBe(0);
  });

  /** Counts of a supervisor that answers when the test says so. */
  const slowCounts = () => {
    const counts = countOwnStreams();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const left: string[] = [];
    return {
      asked: asked.promise,
      answer: answered.resolve,
      left,
      async add(...[caller, maximums]: Parameters<StreamCounts['add']>) {
        const reached = await counts.add(caller, maximums);
        asked.resolve();
        await answered.promise;
        return reached;
      },
      remove(caller: string) {
        counts.remove(caller);
        left.push(caller);
      },
      clear() {
        counts.clear();
        left.push('all');
      },
    };
  };

  it('is not counted any more if its client disconnects while it is counted', async () => {
    const counts = slowCounts();
    const { streams, open, sockets } = await startStreams({ perCaller: 1 }, counts);
    const refused = expect(open('a')).rejects.toThrow();
    await counts.asked;
    for (const socket of sockets) socket.destroy();
    await refused;
    counts.answer();
    await expect.poll(() => counts.left).toEqual(['a']);
    expect(streams.count()).toBe(0);
    await open('a');
  });

  it('does not begin if its process stops while it is counted', async () => {
    const counts = slowCounts();
    const { streams, open } = await startStreams({ perCaller: 1 }, counts);
    const refused = expect(open('a')).rejects.toThrow('This process is stopping: connect again');
    await counts.asked;
    streams.leave();
    counts.answer();
    await refused;
    expect(counts.left).toEqual(['all']);
  });

  it('when its client does not read the stream', async () => {
    const { streams, opened, open } = await startStreams({ unsentBytes: 1_000 });
    const reader = await open('a');
    const stream = await opened;
    reader.pause();
    for (let sent = 0; streams.count() > 0; sent++) {
      expect(sent).toBeLessThan(1_000);
      stream.send(`data: ${'x'.repeat(100_000)}\n\n`);
      await nextTurn();
    }
    expect(stream.isOpen()).toBe(false);
  });

  it('with its process, and continues in the next one', async () => {
    const since = await latest('types=tags');
    const reader = await follow(`types=tags&since=${since}`);
    const a = await createTag('e1');
    await reader.until(() => idsOf(reader).length === 1);
    await server.stop('SIGTERM');
    await reader.until((each) => each.isEnded());
    expect(reader.retry()).toBeGreaterThanOrEqual(500);
    server = await startServer({ data: server.data, arguments: ARGUMENTS });
    ask = createAsk(server.url, token);
    const b = await createTag('e2');
    const next = await follow('types=tags', { 'last-event-id': reader.lastId() });
    await next.until(() => idsOf(next).length === 1);
    expect([...idsOf(reader), ...idsOf(next)]).toEqual([`create ${a}`, `create ${b}`]);
  });
});
