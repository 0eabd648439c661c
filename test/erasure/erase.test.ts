import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { findWords } from '../support/find-words.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** Words that only the erased document has. Some are only in earlier versions of it, in a component, or hidden. */
const WORDS = [
  'Quixotellix',
  'Zanzibrillo',
  'Umbragossen',
  'Vexilloprint',
  'hushwarbler',
  'glimmerfax@example.org',
];
const TYPE = 'api::restaurant.restaurant';
/** A rebuild replaces the serving process, which may close an idle connection while the next request is sent. */
const CLOSE = { connection: 'close' };

type StatusJson = { readonly log: { readonly head: { readonly position: string; readonly chain: string } } };

function restaurant(name: string) {
  return {
    key: name,
    name,
    email: `glimmerfax@example.org`,
    internalNote: 'hushwarbler',
    address: { street: 'Umbragossen 7' },
    sections: [{ __component: 'blocks.quote', text: 'Vexilloprint' }],
  };
}

describe('varve erase', () => {
  const data = createDataDirectory();
  let server: RunningServer;
  let ask: Ask;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let id = '';
  let head = '';
  let others: unknown;

  const create = async (body: object): Promise<string> => {
    const { status, body: answer } = await ask('/api/restaurants?status=published', {
      method: 'POST',
      body: { data: body },
    });
    expect(status, JSON.stringify(answer)).toBe(201);
    return answer.data.documentId;
  };
  const readOthers = async () =>
    (await ask('/api/restaurants?populate=*&sort=key&status=draft', { headers: CLOSE })).body.data.filter(
      ({ documentId }: { documentId: string }) => documentId !== id,
    );
  const verified = (...more: readonly string[]) => runVarve(['verify', '--data', data, ...more]);

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startServer({ data });
    ask = createAsk(server.url);
    const hook = {
      url: receiver.url,
      allowPrivate: true,
      events: ['entry.create', 'entry.update', 'entry.delete'],
    };
    await ask('/_varve/webhooks', { method: 'POST', body: { data: hook } });
    const parent = await create({ key: 'first', name: 'first' });
    id = await create(restaurant('Quixotellix'));
    await create({ key: 'branch', name: 'branch', parent: { connect: [id] } });
    await ask(`/api/restaurants/${id}`, {
      method: 'PUT',
      body: { data: { name: 'Zanzibrillo', parent: { connect: [parent] } } },
    });
    await create({ key: 'last', name: 'last', address: { street: 'Elsewhere' } });
    others = await readOthers();
    await receiver.until(5);
    const { log } = await jsonOf<StatusJson>(['status', '--data', data, '--json']);
    head = `${log.head.position}:${log.head.chain}`;
  }, 180_000);
  afterAll(async () => {
    await server.dispose();
    await receiver.close();
    rmSync(data, { recursive: true, force: true });
  });

  it('shows what would be erased, and changes nothing, without the count', async () => {
    const { code, stdout } = await runVarve(['erase', TYPE, id, '--data', data]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${TYPE} ${id}: 4 events with content\nNothing is erased yet. To erase 1 document for good, repeat the command with --confirm 1\n`,
    });
    const wrong = await ask('/_varve/erasures', {
      method: 'POST',
      body: { data: { type: TYPE, documentId: id, confirm: 2 } },
    });
    expect(wrong.body.error).toMatchObject({
      status: 400,
      message: 'confirm must be 1, the number of documents',
    });
    expect((await ask(`/api/restaurants/${id}`)).status).toBe(200);
  });

  it('leaves no word of the document in any file, and no other answer changes', async () => {
    expect(await findWords(data, WORDS)).not.toEqual([]);
    const { status, body } = await ask('/_varve/erasures', {
      method: 'POST',
      body: { data: { type: TYPE, documentId: id, reason: 'asked for', confirm: 1 } },
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { erased: true, count: 1 } } });
    expect(await findWords(data, WORDS)).toEqual([]);
    expect((await ask(`/api/restaurants/${id}`)).status).toBe(404);
    const now = (await readOthers()) as readonly { parent?: unknown; branches?: unknown }[];
    expect(now.map((each) => ({ ...each, parent: 0, branches: 0 }))).toEqual(
      (others as typeof now).map((each) => ({ ...each, parent: 0, branches: 0 })),
    );
    const deleted = (await receiver.until(6))[5];
    expect(deleted?.json).toMatchObject({ event: 'entry.delete', entry: { documentId: id } });
    expect(Object.keys(deleted?.json.entry ?? {})).toEqual(['documentId']);
    const { body: ledger } = await ask('/_varve/erasures');
    expect(ledger.data).toMatchObject([{ type: TYPE, documentId: id, reason: 'asked for', erased: true }]);
    expect(BigInt(ledger.data[0].proof)).toBeGreaterThan(BigInt(ledger.data[0].position));
  });

  it('is proved by varve verify, with the head of before', async () => {
    const ran = await verified('--head', head);
    expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
  });

  it('erases all documents that filters find, drafts too, after their number was confirmed', async () => {
    const email = 'ada.vandermolen@example.org';
    const [published, draft] = [await create({ key: 'ada', email }), await create({ key: 'ada2' })];
    const changed = { method: 'PUT', body: { data: { email } } };
    expect((await ask(`/api/restaurants/${draft}?status=draft`, changed)).status).toBe(200);
    const other = await create({ key: 'bob', email: 'bob@example.org' });
    const eraseWhere = (where: string, more: object = {}) =>
      ask('/_varve/erasures', { method: 'POST', body: { data: { type: TYPE, where, ...more } } });
    for (const where of ['filters[emial]=a', 'filters[internalNote]=a', 'sort=name', 'filters=', 'x'])
      expect((await eraseWhere(where)).status, where).toBe(400);
    expect((await eraseWhere('filters[email]=nobody@example.org')).status).toBe(404);
    expect((await eraseWhere('filters[email]=a', { documentId: draft })).body.error.message).toBe(
      'Name either documentId or where',
    );
    const tooLong = await eraseWhere('filters[email]=a', { reason: 'x'.repeat(501) });
    expect([tooLong.status, tooLong.body.error.details.errors[0].path]).toEqual([400, 'reason']);
    const where = `filters[email]=${email}`;
    expect((await eraseWhere(where, { confirm: 1 })).body.error.message).toBe(
      'confirm must be 2, the number of documents',
    );
    const shown = await runVarve(['erase', TYPE, '--where', where, '--data', data]);
    expect(shown.stdout).toContain('To erase 2 documents for good, repeat the command with --confirm 2');
    const erased = await runVarve(['erase', TYPE, '--where', where, '--confirm', '2', '--data', data]);
    expect(erased, erased.stdout + erased.stderr).toMatchObject({ code: 0 });
    expect(await findWords(data, [email])).toEqual([]);
    for (const [documentId, status] of [
      [published, 404],
      [draft, 404],
      [other, 200],
    ])
      expect((await ask(`/api/restaurants/${documentId}`)).status).toBe(status);
  });

  it('lists erasures in pages, the newest first', async () => {
    const list = (query: string) => ask(`/_varve/erasures${query}`);
    const { data: all, meta } = (await list('')).body;
    expect(meta.pagination).toEqual({ page: 1, pageSize: 25, pageCount: 1, total: 3 });
    expect(all.at(-1)).toMatchObject({ documentId: id });
    const second = (await list('?pageSize=2&page=2')).body;
    expect(second).toMatchObject({
      data: all.slice(2),
      meta: { pagination: { page: 2, pageSize: 2, pageCount: 2, total: 3 } },
    });
    for (const query of ['?page=0', '?pageSize=101', '?pageSize=a'])
      expect((await list(query)).body.error).toMatchObject({ status: 400, name: 'PaginationError' });
    expect((await list('?start=1')).status).toBe(400);
  });

  it('finds nothing to erase again in the ledger of a directory whose erasures were carried out', async () => {
    const ledger = ['--ledger', join(data, 'erasures.jsonl'), '--data', data];
    const shown = { code: 0, stdout: 'nothing that the file names exists again\n' };
    expect(await runVarve(['erase', ...ledger])).toMatchObject(shown);
    expect(await runVarve(['erase', '--confirm', '0', ...ledger])).toMatchObject(shown);
    for (const more of [[TYPE], [TYPE, id], ['--reason', 'asked for'], ['--where', 'filters[name]=a']]) {
      const { code, stderr } = await runVarve(['erase', ...more, ...ledger]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('or --ledger with a file')]);
    }
  });

  it('survives a rebuild and a stop', takesMinutes('a rebuild after an erasure'), async () => {
    const before = await readOthers();
    const rebuilt = await runVarve(['rebuild', '--graph', '--data', data]);
    expect(rebuilt, rebuilt.stdout + rebuilt.stderr).toMatchObject({ code: 0 });
    expect(await readOthers()).toEqual(before);
    await server.stop();
    expect(await findWords(data, WORDS)).toEqual([]);
  });

  it(
    'stays erased and proved in an export, and in the log that imports it',
    takesMinutes('an export of erased events'),
    async () => {
      const [file, copy] = [join(data, 'export.jsonl'), createDataDirectory()];
      const exported = await runVarve(['export', file, '--data', data]);
      expect(exported, exported.stderr).toMatchObject({ code: 0 });
      const imported = await runVarve(['import', file, '--data', copy]);
      expect(imported, imported.stderr).toMatchObject({ code: 0 });
      const started = await startServer({ data: copy });
      const ran = await runVarve(['verify', '--data', copy]);
      expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
      expect(await findWords(copy, WORDS)).toEqual([]);
      await started.dispose();
      rmSync(copy, { recursive: true, force: true });
      rmSync(file);
    },
  );

  it('finds a changed byte in an erased event, and an erasure without an order', async () => {
    const change = (sql: string, ...values: readonly (string | number)[]) => {
      const db = new DatabaseSync(join(data, 'events.db'));
      db.prepare(sql).run(...values);
      db.close();
    };
    await server.stop();
    const stream = `%restaurant-${id}`;
    const swap = 'UPDATE event SET data = replace(data, ?, ?) WHERE stream LIKE ? AND revision = 0';
    change(swap, TYPE, 'bpi::restaurant.restaurant', stream);
    const flipped = await verified();
    expect(flipped.code).toBe(1);
    expect(flipped.stdout).toContain(
      'its content does not match the proof of its erasure: it was changed afterwards',
    );
    change(swap, 'bpi::restaurant.restaurant', TYPE, stream);
    expect((await verified()).code).toBe(0);
    const erase = `UPDATE event SET data = '{}', metadata = replace(metadata, '"digest":', '"erased":"none","digest":')
      WHERE stream NOT LIKE ? AND stream LIKE '%restaurant-%' AND revision = 0`;
    change(erase, stream);
    const unordered = await verified();
    expect(unordered.code).toBe(1);
    expect(unordered.stdout).toContain('its content was erased without an order');
  });
});
