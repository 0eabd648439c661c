import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import {
  ARTICLE,
  draft,
  inMs,
  type ShownAction,
  type ShownRelease,
  SOON_MS,
  startArticles,
  untilStatus,
} from '../support/released-articles.ts';
import { runVarve } from '../support/run-varve.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

let started: Awaited<ReturnType<typeof startArticles>>;
let client: ApiClient;

beforeAll(async () => {
  started = await startArticles();
  client = started.client;
}, 300_000);
afterAll(() => started.dispose());

function release(...args: readonly string[]) {
  return runVarve(['release', ...args, '--data', started.server.data]);
}

/** Runs a command that succeeds, and returns what it writes. */
async function succeeds(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await release(...args);
  expect(code, stderr).toBe(0);
  return stdout + stderr;
}

async function metric(name: string): Promise<number | undefined> {
  return sampleOf(await (await fetch(`${started.server.url}/metrics`)).text(), name);
}

describe('varve release', { ...takesMinutes('every command of varve release'), timeout: 300_000 }, () => {
  it('shows, changes, cancels and deletes what the API has', async () => {
    const id = await draft(client, { title: 'a' });
    const made = await succeeds(
      ...['create', 'Advent', '--at', '2031-12-24T08:00', '--timezone', 'Europe/Berlin', '--json'],
    );
    const advent = JSON.parse(made) as ShownRelease;
    expect(advent).toMatchObject({ scheduledAt: '2031-12-24T07:00:00.000Z', timezone: 'Europe/Berlin' });
    const number = String(advent.id);
    await succeeds('add', number, '--type', ARTICLE, '--entries', id, '--unpublish');
    expect(await succeeds('add', number, '--type', ARTICLE, '--entries', id)).toContain(
      'the release had 1 already',
    );
    expect(await succeeds('list')).toMatch(
      new RegExp(`^${number} +Advent +ready +1 +2031-12-24T07:00:00.000Z \\(Europe/Berlin\\)$`, 'm'),
    );
    const shown = JSON.parse(await succeeds('show', number, '--json')) as { readonly actions: ShownAction[] };
    expect(shown.actions).toMatchObject([{ type: 'unpublish', entryDocumentId: id }]);
    expect(await succeeds('show', number)).toContain(`unpublish  ${ARTICLE}  ${id}`);
    await succeeds('remove', number, '--action', String(shown.actions[0]?.id));
    await succeeds('change', number, '--name', 'Christmas');
    const stored = () => client.data<ShownRelease>('GET', `/_varve/releases/${number}`);
    expect(await stored()).toMatchObject({
      name: 'Christmas',
      status: 'empty',
      scheduledAt: advent.scheduledAt,
    });
    await succeeds('change', number, '--at', '2032-12-24T08:00');
    expect(await stored()).toMatchObject({
      scheduledAt: '2032-12-24T07:00:00.000Z',
      timezone: 'Europe/Berlin',
    });
    await succeeds('cancel', number);
    expect(await stored()).toMatchObject({ name: 'Christmas', scheduledAt: null });
    await succeeds('delete', number);
    expect((await client.call('GET', `/_varve/releases/${number}`)).status).toBe(404);
  });

  it('is counted when it carries a release out', async () => {
    const id = (await release('create', 'by command')).stdout.trim();
    await succeeds('add', id, '--type', ARTICLE, '--entries', await draft(client, { title: 'a' }));
    const waiting = (await metric('varve_releases_pending')) ?? 0;
    const done = (await metric('varve_releases_done_total')) ?? 0;
    expect(await succeeds('publish', id)).toBe('1 entries are published, 0 unpublished.\n');
    expect(await metric('varve_releases_pending')).toBe(waiting - 1);
    expect(await metric('varve_releases_done_total')).toBe(done + 1);
  });

  it('names the entries that it cannot publish', async () => {
    const bad = await draft(client, {});
    const id = (await release('create', 'bad')).stdout.trim();
    expect(await succeeds('add', id, '--type', ARTICLE, '--entries', bad)).toContain(
      `${bad} would be refused: title`,
    );
    const failed = (await metric('varve_releases_failed_total')) ?? 0;
    const refused = await release('publish', id);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain(`Release failed to publish\n  ${ARTICLE} ${bad}: title`);
    expect(await metric('varve_releases_failed_total')).toBe(failed + 1);
    expect(await metric('varve_releases_due')).toBe(0);
  });

  it('counts how late a scheduled release is', async () => {
    const id = (await release('create', 'late')).stdout.trim();
    await succeeds('add', id, '--type', ARTICLE, '--entries', await draft(client, { title: 'c' }));
    const late = (await metric('varve_release_lateness_seconds_count')) ?? 0;
    const head = { name: 'late', scheduledAt: inMs(SOON_MS) };
    await client.data('PUT', `/_varve/releases/${id}`, { data: head });
    await untilStatus(client, Number(id), 'done');
    // It is counted a moment after reads show it.
    const lateness = () => metric('varve_release_lateness_seconds_count');
    await expect.poll(lateness, { timeout: 60_000 }).toBe(late + 1);
  });

  it.each([
    [['show', '999'], 'There is no release 999'],
    [['create', ''], '--name is empty'],
    [['create', 'x', '--at', 'tomorrow'], '--at must be an instant such as'],
    [
      ['create', 'x', '--at', '2031-01-01', '--timezone', 'Mars'],
      '--timezone must be the name of a time zone',
    ],
    [['change', '1'], 'pass --name or --at'],
    [['add', '999', '--type', 'api::x.x', '--entries', 'a,b'], '--type is not a content type: "api::x.x"'],
    [
      ['add', '999', '--type', ARTICLE, '--entries', 'a'],
      '--entries is not an entry of api::article.article: "a"',
    ],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await release(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
  });

  it('needs a server', async () => {
    const { server } = started;
    await server.stop();
    const { code, stderr } = await release('list');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no server runs on the data directory')]);
  });
});
