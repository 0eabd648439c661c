import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { differences } from './same-reads.ts';
import { type SourceGate, startSourceGate } from './source-gate.ts';

type Status = { readonly follow: { readonly kept: number; readonly trouble: string | null } };

/** A private value. No API shows it, but an archive contains it. */
const SECRET = 'shown to nobody';

describe(
  'following a source',
  takesMinutes('following with an archive, and a source that is emptied'),
  () => {
    const contentTypes = createKitchenTypes();
    const data = createDataDirectory();
    const archive = join(data, 'export.tar.gz');
    let source: RunningServer;
    let empty: RunningServer;
    let gate: SourceGate;
    let follower: RunningServer;

    const follow = async (...more: readonly string[]) => {
      const pace = ['--follow-interval', '200ms', '--follow-rate', '1000'];
      follower = await startServer({
        data,
        contentTypes,
        arguments: ['--follow', gate.url, ...pace, ...more],
      });
    };
    const write = async (method: string, path: string, body?: object) => {
      const answer = await createAsk(source.url)(path, { method, ...(body === undefined ? {} : { body }) });
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body;
    };
    const becomesEqualTo = async (other: RunningServer) => {
      const differ = () => differences(other.url, follower.url, contentTypes);
      for (let tries = 0; tries < 600 && (await differ()).length > 0; tries++) await delay(50);
      expect(await differ()).toEqual([]);
    };
    /** Fails with the state of the following. */
    const keeps = async (isRight: (kept: number) => boolean) => {
      const state = async () => (await jsonOf<Status>(['status', '--json', '--data', data])).follow;
      await expect.poll(state, { timeout: 120_000 }).toSatisfy(({ kept }) => isRight(kept));
    };
    const ready = async () => {
      const response = await fetch(`${follower.url}/health/ready`);
      return [response.status, ((await response.json()) as { readonly reason?: string }).reason];
    };
    const events = async (...filter: readonly string[]) =>
      (await runVarve(['events', '--raw', '--data', data, ...filter])).stdout;

    beforeAll(async () => {
      mkdirSync(join(contentTypes, 'home'));
      const home = {
        ...{ kind: 'singleType', info: { singularName: 'home', pluralName: 'homes', displayName: 'Home' } },
        options: { draftAndPublish: true },
        attributes: { title: { type: 'string' }, note: { type: 'string', private: true } },
      };
      writeFileSync(join(contentTypes, 'home', 'schema.json'), JSON.stringify(home));
      [source, empty] = await Promise.all([startServer({ contentTypes }), startServer({ contentTypes })]);
      await write('PUT', '/api/home', { data: { title: 'Welcome', note: SECRET } });
      const { data: cook } = await write('POST', '/api/cooks', { data: { name: 'Ann' } });
      for (let n = 0; n < 9; n++)
        await write('POST', '/api/dishs', { data: { name: `dish ${n}`, cook: cook.documentId } });
      await runVarve(['export', '--strapi', archive, '--data', source.data]);
      gate = await startSourceGate(source.url);
    }, 300_000);
    afterAll(async () => {
      gate?.close();
      await Promise.all([follower, source, empty].map((server) => server?.dispose()));
      for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
    });

    test('with an archive is not ready until everything is copied, and continues after a kill', {
      timeout: 300_000,
    }, async () => {
      gate.hold((path) => path.startsWith('/api/') && !path.startsWith('/api/i18n'));
      await follow('--follow-from', archive);
      const imported = async () => (await fetch(`${follower.url}/api/home`)).status === 200;
      while (!(await imported())) await delay(50);
      expect(await ready()).toEqual([503, 'copying']);
      await follower.stop('SIGKILL');
      await write('PUT', '/api/home?status=draft', { data: { title: 'Since the export' } });
      await follow('--follow-from', archive);
      while ((await ready())[1] !== 'copying') await delay(50);
      gate.open();
      await becomesEqualTo(source);
      while ((await ready())[0] !== 200) await delay(50);
      expect(await events()).toContain(SECRET);
    });

    test('changes a single type, unpublishes it, and deletes it', { timeout: 300_000 }, async () => {
      for (const [method, path, body] of [
        ['PUT', '/api/home', { data: { title: 'Changed' } }],
        ['PUT', '/api/home?status=draft', { data: { title: 'A draft' } }],
        ['DELETE', '/api/home', undefined],
      ] as const) {
        await write(method, path, body);
        await becomesEqualTo(source);
      }
      expect(await events('--type', 'entry-deleted')).toContain('api::home.home');
    });

    test('keeps everything when the source starts empty, until --follow-deletions allows the deletion', {
      timeout: 300_000,
    }, async () => {
      const deleted = await events('--type', 'entry-deleted');
      gate.to(empty.url);
      await keeps((kept) => kept > 0);
      await expect.poll(follower.output).toContain('--follow-deletions');
      gate.to(source.url);
      await keeps((kept) => kept === 0);
      await becomesEqualTo(source);
      expect(await events('--type', 'entry-deleted')).toBe(deleted);
      await follower.stop();
      gate.to(empty.url);
      await follow('--follow-deletions', '100%', '--follow-writes', 'refuse');
      await becomesEqualTo(empty);
    });

    test('with --follow-writes refuse answers writes with 405, and forwards sign-ins', async () => {
      const ask = createAsk(follower.url);
      const body = { data: { name: 'Refused' } };
      expect((await ask('/api/dishs', { method: 'POST', body })).status).toBe(405);
      expect((await ask('/api/upload', { method: 'POST', body })).status).toBe(405);
      expect((await createAsk(empty.url)('/api/dishs')).body.data).toEqual([]);
      const signIn = { method: 'POST', body: { identifier: 'a', password: 'b' } };
      const [here, there] = [
        await ask('/api/auth/local', signIn),
        await createAsk(empty.url)('/api/auth/local', signIn),
      ];
      expect(here.status).toBe(there.status);
    });
  },
);
