import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { findWords } from '../support/find-words.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { postForm, uploadForm } from '../support/upload-client.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const TYPE = 'api::restaurant.restaurant';
const PATH = '/api/restaurants';

/** Six versions of an entry, each with words that no other version has. */
const VERSIONS = Array.from({ length: 6 }, (_, at) => ({
  name: `Quixotellix${at}`,
  email: `glimmerfax${at}@example.org`,
  internalNote: `hushwarbler${at}`,
  description: `A place called Zanzibrillo${at}. ${'Long enough for pages of its own. '.repeat(at * 100)}`,
  extra: { owner: `Vandermolen${at}` },
  content: [{ type: 'paragraph', children: [{ type: 'text', text: `Brockelthwaite${at}` }] }],
  address: { street: `Umbragossen ${at}x`, geo: { label: `Kirchenlohr${at}` } },
  sections: [{ __component: 'blocks.quote', text: `Vexilloprint${at}`, author: `Ottilinde${at}` }],
}));
const WORDS = VERSIONS.flatMap((_, at) => [
  `Quixotellix${at}`,
  `glimmerfax${at}@example.org`,
  `hushwarbler${at}`,
  `Zanzibrillo${at}`,
  `Vandermolen${at}`,
  `Brockelthwaite${at}`,
  `Umbragossen ${at}x`,
  `Kirchenlohr${at}`,
  `Vexilloprint${at}`,
  `Ottilinde${at}`,
]);
const FILE_WORDS = ['Pellworm-Attachment', 'Scherzligen', 'Firnbachtal'];

const SERVERS = [
  { what: 'purges caches', argumentsFor: (receiver: string) => ['--purge', `webhook=${receiver}`] },
  { what: 'has workers that read', argumentsFor: () => ['--workers', '2'] },
];

describe.for(SERVERS)(
  'every file of a server that $what, after an erasure',
  takesMinutes('all copies'),
  ({ argumentsFor }) => {
    const data = createDataDirectory();
    let server: RunningServer;
    let ask: Ask;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let id = '';
    /** Positions of the last write, and of the last one before the words were removed. */
    let position = '';
    let then = '';
    let file = '';
    let others: readonly unknown[] = [];

    const write = async (path: string, method: string, body: object) => {
      const { status, body: answer, headers } = await ask(path, { method, body: { data: body } });
      expect(status, JSON.stringify(answer)).toBeLessThan(300);
      position = String(headers.get('varve-position'));
      return answer.data;
    };
    const erase = async (type: string, documentId: string) => {
      const body = { data: { type, documentId, confirm: 1 } };
      expect((await ask('/_varve/erasures', { method: 'POST', body })).status).toBe(200);
    };
    /** The workers that only read clean their own files. */
    const untilNoFileHas = async (words: readonly string[]) => {
      for (;;) {
        const found = await findWords(data, words);
        if (found.length === 0) return;
        await delay(500);
      }
    };
    const read = async () =>
      (await ask(`${PATH}?status=draft&sort=key&filters[key][$ne]=it`)).body.data as readonly unknown[];

    beforeAll(async () => {
      receiver = await startReceiver();
      server = await startServer({
        data,
        arguments: argumentsFor(`${receiver.url}/purge`),
      });
      ask = createAsk(server.url);
      const hook = { url: receiver.url, allowPrivate: true, events: ['entry.create', 'entry.update'] };
      await write('/_varve/webhooks', 'POST', hook);
      for (let at = 0; at < 12; at++) await write(PATH, 'POST', { key: `before${at}`, name: `before ${at}` });
      const [first, ...later] = VERSIONS;
      id = (await write(`${PATH}?status=published`, 'POST', { key: 'it', ...first })).documentId;
      for (const version of later) {
        await write(`${PATH}/${id}`, 'PUT', version);
        await write(PATH, 'POST', {
          key: `between ${version.name.length} ${later.indexOf(version)}`,
          parent: { connect: [id] },
        });
      }
      then = position;
      const form = uploadForm(
        [{ name: `${FILE_WORDS[0]}.txt`, bytes: `${FILE_WORDS[1]}\n`, type: 'text/plain' }],
        {
          fileInfo: JSON.stringify({ caption: FILE_WORDS[2] }),
        },
      );
      file = ((await (await postForm(server, form)).json()) as [{ documentId: string }])[0].documentId;
      await write(`${PATH}/${id}`, 'PUT', { name: 'plain' });
      // The rebuild replaces the serving process, which may close an idle connection while the next request is sent.
      const last = asOf(`${PATH}/${id}?populate=sections`, then);
      expect((await readWhole(server.url, last, { connection: 'close' })).body).toContain(WORDS.at(-1));
      const rebuilt = await runVarve(['rebuild', '--graph', '--data', data]);
      expect(rebuilt, rebuilt.stdout + rebuilt.stderr).toMatchObject({ code: 0 });
      await write(`${PATH}/${id}`, 'PUT', { name: 'plain again' });
      others = await read();
    }, 600_000);
    afterAll(async () => {
      await server?.dispose();
      await receiver?.close();
      rmSync(data, { recursive: true, force: true });
    });

    it('has none of the words of a document, and no other document changes', async () => {
      expect(new Set((await findWords(data, WORDS)).map((found) => found.split(': ')[1]))).toEqual(
        new Set(WORDS),
      );
      await erase(TYPE, id);
      await untilNoFileHas(WORDS);
      expect(await read()).toEqual(others);
    }, 600_000);

    it('shows the document in no past, and no version of it', async () => {
      expect((await readWhole(server.url, asOf(`${PATH}/${id}`, then))).status).toBe(404);
      const past = await readWhole(server.url, asOf(`${PATH}?pagination[pageSize]=100`, then));
      expect(past.body).not.toContain(id);
      expect(past.body).toContain('before 11');
      expect((await ask(`${PATH}/${id}/versions`)).status).toBe(404);
      const deleted = (await ask(`${PATH}/_deleted`)).body.data as readonly object[];
      expect(deleted).toEqual([]);
      await untilNoFileHas(WORDS);
    }, 600_000);

    it('has none of the words of an uploaded file', async () => {
      expect(await findWords(data, FILE_WORDS)).not.toEqual([]);
      await erase('plugin::upload.file', file);
      await untilNoFileHas(FILE_WORDS);
    }, 600_000);

    it('has none of the words of a user', async () => {
      const words = ['adavandermolen', 'ada.vandermolen@example.org'];
      const [username, email] = words;
      const user = { username, email, password: 'Passw0rd!x', role: 1 };
      const { status, body: created } = await ask('/api/users', { method: 'POST', body: user });
      expect(status, JSON.stringify(created)).toBe(201);
      expect(await findWords(data, words)).not.toEqual([]);
      const where = `filters[email]=${email}`;
      const wanted = { type: 'plugin::users-permissions.user', where, confirm: 1 };
      expect(await write('/_varve/erasures', 'POST', wanted)).toMatchObject({ erased: true, count: 1 });
      await untilNoFileHas(words);
    }, 600_000);

    it('has none of the words of neighbours that are erased one by one', async () => {
      const words = Array.from({ length: 12 }, (_, at) => `Lammerfold${at}x`);
      const ids: string[] = [];
      for (const word of words)
        ids.push(
          (await write(PATH, 'POST', { key: word, name: word, description: `${word} `.repeat(20) }))
            .documentId,
        );
      for (const [at, one] of ids.entries()) {
        await erase(TYPE, one);
        await untilNoFileHas(words.slice(0, at + 1));
      }
      const verified = await runVarve(['verify', '--data', data]);
      expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
      await server.stop();
      expect(await findWords(data, [...WORDS, ...FILE_WORDS, ...words])).toEqual([]);
    }, 600_000);
  },
);
