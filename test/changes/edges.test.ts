import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { type EventReader, openEvents } from '../support/event-source.ts';
import { readFeed } from '../support/feed-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const TAGS = 40;
const LARGEST = '9'.repeat(20);
const KEY = ['--access-key', 'k'.repeat(43)];
const SIGNATURE = 'a'.repeat(22);

let server: RunningServer;
let ask: Ask;
let token: string;
/** A full sync token, and one from the middle of a first sync. */
let since: string;
let listing: string;

beforeAll(async () => {
  server = await startServer();
  token = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  ask = createAsk(server.url, token);
  for (let n = 0; n < TAGS; n++) await createTag(`t${n}`);
  since = (await readFeed(ask, 'types=tags')).next;
  listing = (await ask('/api/_changes?types=tags&limit=1')).body.meta.next;
});
afterAll(() => server?.dispose());

async function createTag(key: string): Promise<string> {
  const { status, body } = await ask('/api/tags', { method: 'POST', body: { data: { key } } });
  expect(status).toBe(201);
  return body.data.documentId;
}

async function open(query: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const reader = await openEvents(`${server.url}/api/_changes?${query}`, headers);
  onTestFinished(reader.close);
  return reader;
}

const authorization = () => `Bearer ${token}`;
const codeOf = async (text: string) => {
  const { status, body } = await ask(`/api/_changes?types=tags&since=${encodeURIComponent(text)}`);
  return `${status} ${body.error?.code}`;
};
const REFUSED = expect.stringMatching(/^(400 invalid-sync-token|410 sync-token-gone)$/);

describe('a sync token', () => {
  it('is refused if any character is changed, removed or added', async () => {
    for (const text of [since, listing]) {
      expect(await codeOf(text)).toBe('200 undefined');
      for (let at = 0; at < text.length; at++) {
        const other = text[at] === 'A' ? 'B' : 'A';
        const digit = text[at] === '1' ? '2' : '1';
        const changes = [other, digit, ''].map((by) => text.slice(0, at) + by + text.slice(at + 1));
        for (const changed of changes.filter((each) => each !== text))
          expect(await codeOf(changed), `${text} became ${changed}`).toEqual(REFUSED);
      }
      for (const changed of [`${text}A`, `0${text}`, ` ${text}`, `${text} `, `${text}\n`, `${text}.`])
        expect(await codeOf(changed), JSON.stringify(changed)).toEqual(REFUSED);
    }
  });

  it.each([
    `${LARGEST}.${SIGNATURE}`,
    `9223372036854775807.${SIGNATURE}`,
    `0.${SIGNATURE}`,
    `0.e30.${SIGNATURE}`,
  ])('that Varve did not make is refused: %s', async (text) =>
    expect(await codeOf(text)).toBe('410 sync-token-gone'),
  );

  describe('of another log', () => {
    /** Starts a server. All have the same access key. */
    const start = async (data: string) => {
      const own = await startServer({ data, arguments: KEY });
      onTestFinished(() => own.dispose());
      return own;
    };
    const statusOf = async (as: Ask, text: string) =>
      (await as(`/api/_changes?types=tags&since=${text}`)).status;

    it(
      'is refused, even if both logs have the same key',
      takesMinutes('feeds of two logs with one key'),
      async () => {
        const servers = [await start(createDataDirectory()), await start(createDataDirectory())] as const;
        const [first, second] = servers.map(({ url }) => createAsk(url)) as [Ask, Ask];
        const own = (await readFeed(first, 'types=tags')).next;
        expect([await statusOf(first, own), await statusOf(second, own)]).toEqual([200, 410]);
      },
    );

    it('is refused after a restore, which makes another log, also if the backup reaches its position', async () => {
      const [data, restored] = [createDataDirectory(), createDataDirectory()];
      const original = await start(data);
      const everyone = createAsk(original.url);
      const write = (as: Ask, key: string) => as('/api/tags', { method: 'POST', body: { data: { key } } });
      await write(everyone, 'in the backup');
      const early = (await readFeed(everyone, 'types=tags')).next;
      const backup = join(createDataDirectory(), 'backup');
      expect(await runVarve(['backup', backup, '--data', data])).toMatchObject({ code: 0 });
      await write(everyone, 'lost');
      const late = (await readFeed(everyone, 'types=tags')).next;
      await original.stop();
      expect(await runVarve(['restore', backup, '--data', restored])).toMatchObject({ code: 0 });
      const copy = createAsk((await start(restored)).url);
      const refused = async () => [await statusOf(copy, early), await statusOf(copy, late)];
      expect(await refused()).toEqual([410, 410]);
      // The copy's log continues differently, beyond the position of the tokens.
      for (const key of ['own 1', 'own 2', 'own 3', 'own 4']) await write(copy, key);
      expect(await refused()).toEqual([410, 410]);
      expect((await readFeed(copy, 'types=tags')).items).toHaveLength(5);
    });
  });

  it('is refused after the rights of its caller changed, and valid again with the same rights', async () => {
    const allow = (types: readonly string[]) =>
      ask('/_varve/public', {
        method: 'PUT',
        body: { data: { allow: types.map((type) => `${type}.find`) } },
      });
    const everyone = createAsk(server.url);
    const status = async (text: string) => (await everyone(`/api/_changes?types=tags&since=${text}`)).status;
    await allow(['tag']);
    const { next } = await readFeed(everyone, 'types=tags');
    await allow(['tag', 'article']);
    expect(await status(next)).toBe(410);
    await allow(['tag']);
    expect(await status(next)).toBe(200);
    await allow([]);
    expect(await status(next)).toBe(403);
  });
});

it.each(['garbage', 'ü', `${LARGEST}.${SIGNATURE}`, '{"a":1}', '0'])(
  'Last-Event-ID %s resets a stream, which then lists everything',
  async (last) => {
    const sent = Buffer.from(last).toString('latin1');
    const reader = await open('types=tags', { authorization: authorization(), 'last-event-id': sent });
    await reader.until(({ events }) => events.length > 1);
    expect(reader.events.map(({ event }) => event)).toEqual(['reset', 'changes']);
    expect(JSON.parse(reader.events[1]?.data ?? '').data).toHaveLength(TAGS);
  },
);

it('an empty Last-Event-ID begins where `since` says', async () => {
  const reader = await open(`types=tags&since=${listing}&limit=1000`, {
    authorization: authorization(),
    'last-event-id': '',
  });
  await reader.until(({ events }) => events.length > 0);
  expect(reader.events.map(({ event }) => event)).toEqual(['changes']);
  expect(JSON.parse(reader.events[0]?.data ?? '').data).toHaveLength(TAGS - 1);
});

describe('types that a caller may not find', () => {
  const HIDDEN = ['api::restaurant.restaurant', 'restaurants', 'api::nothing.nothing', 'nothings'];
  const UNSERVED = ['plugin::users-permissions.user', 'users', '__proto__', 'plugin::upload.file', 'upload'];

  it('are refused with one answer, alone and among others, in pages and in streams', async () => {
    const site = await createTokenOver(ask, { name: 'site', type: 'custom', allow: ['tag.find'] });
    const pages = createAsk(server.url, site);
    for (const list of [(name: string) => name, (name: string) => `tags,${name},api::tag.tag`]) {
      const answers = new Set<string>();
      for (const name of [...HIDDEN, ...UNSERVED]) {
        const query = `types=${list(name)}`;
        const { status, body } = await pages(`/api/_changes?${query}`);
        answers.add(`${status} ${JSON.stringify(body).replaceAll(JSON.stringify(name), 'NAME')}`);
        await expect(open(query, { authorization: `Bearer ${site}` }), name).rejects.toThrow(/^400 /);
      }
      expect([...answers]).toEqual([expect.stringMatching(/^400 .*NAME/)]);
    }
  });
});

describe('a ticket', () => {
  const createTicket = async (as: Ask = ask) =>
    (await as('/_varve/tickets', { method: 'POST' })).body.data.ticket as string;

  it('opens one stream, for any path', async () => {
    const ticket = await createTicket();
    const list = await openEvents(`${server.url}/api/tags?live=true&ticket=${ticket}`);
    onTestFinished(list.close);
    await expect(open(`types=tags&ticket=${ticket}`, {})).rejects.toThrow(/^401 /);
  });

  it('opens exactly one of many streams at once', async () => {
    const ticket = await createTicket();
    const asked = Array.from({ length: 10 }, () =>
      open(`types=tags&ticket=${ticket}`, {}).then(
        () => 'opened',
        (error: Error) => error.message.slice(0, 3),
      ),
    );
    expect((await Promise.all(asked)).toSorted()).toEqual([...Array(9).fill('401'), 'opened']);
  });

  it('is refused with any character changed, before it is used', async () => {
    const ticket = await createTicket();
    for (const at of [0, 1, 15, 16, 20, 37, 38, 40, ticket.length >> 1, ticket.length - 2]) {
      const changed = `${ticket.slice(0, at)}${ticket[at] === 'A' ? 'B' : 'A'}${ticket.slice(at + 1)}`;
      await expect(open(`types=tags&ticket=${changed}`, {}), `at ${at}`).rejects.toThrow(/^401 /);
    }
    for (const changed of ['', 'x', ticket.slice(0, -4), `${ticket}AAAA`])
      await expect(open(`types=tags&ticket=${changed}`, {}), changed).rejects.toThrow(/^401 /);
    await open(`types=tags&ticket=${ticket}`, {});
  });

  it('opens no page, no list and no route of tokens', async () => {
    const ticket = await createTicket();
    const everyone = createAsk(server.url);
    for (const path of ['/api/_changes', '/api/tags', '/_varve/tokens'])
      expect([400, 401, 403], path).toContain((await everyone(`${path}?ticket=${ticket}`)).status);
    await open(`types=tags&ticket=${ticket}`, {});
  });

  it('opens nothing if its token was revoked', async () => {
    const secret = await createTokenOver(ask, { name: 'short', type: 'full-access' });
    const ticket = await createTicket(createAsk(server.url, secret));
    await revoke('short');
    await expect(open(`types=tags&ticket=${ticket}`, {})).rejects.toThrow(/^401 /);
  });
});

async function revoke(name: string): Promise<void> {
  const { body } = await ask('/_varve/tokens');
  const { id } = body.data.find((each: { readonly name: string }) => each.name === name);
  expect((await ask(`/_varve/tokens/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
}

it('a stream ends when its token is revoked in the middle of a first sync', async () => {
  const secret = await createTokenOver(ask, { name: 'syncing', type: 'read-only' });
  const reader = await open('types=tags&limit=1', { authorization: `Bearer ${secret}` });
  await reader.until(({ events }) => events.length > 0);
  await revoke('syncing');
  const late = await createTag('after the revocation');
  await reader.until(({ isEnded }) => isEnded());
  expect(reader.events.filter(({ data }) => data.includes(late))).toEqual([]);
  const again = { authorization: `Bearer ${secret}`, 'last-event-id': reader.lastId() };
  await expect(open('types=tags&limit=1', again)).rejects.toThrow(/^401 /);
});
