import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import {
  type ElasticsearchProxy,
  type ProxiedRequest,
  startElasticsearchProxy,
} from '../support/elasticsearch-proxy.ts';
import { type Member, startMember, startReader } from '../support/fleet.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, type ServerOptions } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * A leader that fills new indices while it answers requests, since it does not know which documents are stale. It reaches
 * Elasticsearch through a proxy. The proxy hides the progress of the leader before, and delays the alias switch.
 */
const space = `filled_${process.pid}`;
const folder = createDataDirectory();
const PATIENT = { timeout: 60_000 };
const TAGS = '/api/tags';

let url: string;
let proxy: ElasticsearchProxy;
let [first, second, reader]: Member[] = [];
const held = Promise.withResolvers<undefined>();
let switches = 0;

const isProgress = ({ method, path }: ProxiedRequest) =>
  method === 'GET' && path.startsWith(`/${space}-progress/_source/`) && !path.endsWith('/owner');
/** Returns true for the alias switch, after which searches use other indices. */
const isSwitch = ({ path, body }: ProxiedRequest) =>
  path.startsWith('/_aliases') && body.includes('tag-draft"');

function start(name: string, role: NonNullable<ServerOptions['role']>, address: string): Promise<Member> {
  const log = `sqlite:${join(folder, 'events.db')}`;
  const args = [
    '--event-store',
    log,
    '--read-index',
    address,
    '--space',
    space,
    '--assets',
    join(folder, 'assets'),
  ];
  return startMember(name, { role, data: join(folder, name), arguments: args });
}

const askOf = (member: Member | undefined) => createAsk(member?.server().url ?? '');

describe(
  'a leader that fills new indices',
  await needsElasticsearch(takesMinutes('a leader that fills indices')),
  () => {
    beforeAll(async () => {
      url = await elasticsearchUrl();
      proxy = await startElasticsearchProxy(url);
      proxy.intercept((request) => {
        if (isProgress(request)) return { status: 404, json: {} };
        if (!isSwitch(request)) return undefined;
        switches++;
        return held.promise;
      });
      first = await start('first', 'project', url);
      [second, reader] = await Promise.all([
        start('second', 'serve', proxy.url),
        start('reader', 'api', url),
      ]);
    }, 240_000);
    afterAll(async () => {
      held.resolve(undefined);
      await Promise.all([first, second, reader].map((member) => member?.end('SIGKILL')));
      proxy?.close();
      await removeIndices(url, space);
      rmSync(folder, { recursive: true, force: true });
    });

    it('answers no write before its reads show it, and fails no read', {
      timeout: 180_000,
    }, async () => {
      const [ask, read] = [askOf(second), askOf(reader)];
      const data = { key: 'a', name: 'before' };
      const { body } = await ask(TAGS, { method: 'POST', body: { data } });
      const path = `${TAGS}/${body.data.documentId}`;
      const reading = startReader(reader as Member, path);
      await first?.end('SIGKILL');
      const writes = [
        ask(TAGS, { method: 'POST', body: { data: { key: 'b', name: 'at once' } } }),
        ask(path, { method: 'PUT', body: { data: { key: 'a', name: 'after' } } }),
      ];
      await expect.poll(() => switches, PATIENT).toBeGreaterThan(0);
      writes.push(ask(TAGS, { method: 'POST', body: { data: { key: 'c', name: 'while it fills' } } }));
      const answers = await Promise.all(writes);
      held.resolve(undefined);
      // 202: the write is stored, and searches did not show it in time.
      for (const answer of answers)
        expect([200, 201, 202], JSON.stringify(answer.body)).toContain(answer.status);
      const shown = answers.map(({ status, body: sent }) => status === 202 || sent.data.name);
      expect(shown).not.toContain('before');

      const last = answers.at(-1)?.headers.get('varve-position') ?? '';
      const names = async (of: typeof ask) => {
        const list = await of(`${TAGS}?sort=key`, { headers: { 'varve-min-position': last } });
        return list.body.data?.map(({ name }: { readonly name: string }) => name);
      };
      const all = ['after', 'at once', 'while it fills'];
      await expect.poll(() => names(ask), PATIENT).toEqual(all);
      await expect.poll(() => names(read), PATIENT).toEqual(all);
      expect(await reading.stop()).toEqual([]);
    });
  },
);
