import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, openConsole, REACTS } from '../support/console-page.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { leaderOf, type Member } from '../support/fleet.ts';

const WHAT = 'a fleet on Elasticsearch in the console';

describe(WHAT, { ...(await needsElasticsearch(longInBrowser(WHAT))), timeout: 300_000 }, () => {
  let proxy: ElasticsearchProxy;
  let fleet: ElasticsearchFleet;
  let leader: Member;
  let standby: Member;
  let api: Member;
  let shown: ConsolePage;

  beforeAll(async () => {
    proxy = await startElasticsearchProxy(await elasticsearchUrl());
    fleet = await startElasticsearchFleet({
      ...{ url: proxy.url, space: `console_${process.pid}`, projects: 0, serves: 2, apis: 1 },
    });
    leader = await fleet.leader();
    standby = fleet.serves.find((each) => each !== leader) as Member;
    [api] = fleet.apis as [Member];
    for (let i = 0; i < 40; i++)
      await askAt(leader)('/api/tags', { method: 'POST', body: { data: { key: `t${i}` } } });
    shown = await openConsole(standby.server().url);
  }, 300_000);

  afterAll(async () => {
    proxy?.restore();
    await shown?.close();
    await fleet?.dispose();
    proxy?.close();
  });

  const askAt = (member: Member) => createAsk(member.server().url);
  const rowOf = (member: Member) =>
    shown.page.locator('[aria-label=Processes] tbody tr', { hasText: ` ${member.server().supervisor} on ` });
  const sentence = (words: string | RegExp) =>
    shown.page.locator('section.sentence', { hasText: words }).waitFor(REACTS);

  /** Without Elasticsearch reads of content answer 503, which the browser reports. */
  async function problems(): Promise<readonly string[]> {
    return (await shown.problems()).filter((fault) => !/status of 503/.test(fault));
  }

  async function liveAt(member: Member): Promise<number> {
    const { data } = (await askAt(member)('/_varve/state')).body;
    return data.generations.find(({ state }: { state: string }) => state === 'live').number;
  }

  async function canRead(): Promise<void> {
    for (const member of [leader, standby, api])
      await expect
        .poll(async () => (await askAt(member)('/api/tags')).body.meta?.pagination?.total, REACTS)
        .toBe(40);
  }

  test('an operator sees the leader, a standby and a process that only reads', async () => {
    await shown.show('#/overview', '.events tbody tr');
    await sentence(/^All is right: 3 processes serve/);
    const cells = async (member: Member) => (await rowOf(member).locator('td').allTextContents()).slice(0, 3);
    expect((await cells(leader))[2]).toMatch(/^leader · epoch \d+$/);
    expect((await cells(standby))[2]).toBe('standby');
    expect((await cells(api))[2]).toBe('reads');
    expect((await cells(api))[0]).toMatch(/^api /);
    expect((await cells(leader))[1]).toBe(leader.server().url);
    for (const member of [leader, standby, api]) await rowOf(member).locator('.light.live').waitFor(REACTS);
    expect(await shown.page.locator('.pipeline').textContent()).toContain('Read index (elasticsearch)');
    expect(await shown.problems()).toEqual([]);
  });

  test('an operator opens the console of a process that only reads', async () => {
    const other = await openConsole(api.server().url);
    try {
      await other.show('#/overview', '.pipeline .stage');
      await other.page.locator('.stage', { hasText: 'Elasticsearch' }).locator('.good').waitFor(REACTS);
      expect(await other.page.locator('[aria-label=Processes] tbody tr').count()).toBe(3);
      expect(await other.problems()).toEqual([]);
      await other.show('#/projections', '.card.empty');
      expect(await other.page.textContent('.card.empty')).toContain('Open the console of a varve project');
      await other.show('#/content/tags', 'main td a');
      expect(await other.page.textContent('h1 .count')).toBe('40');
      expect(await other.problems()).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('an operator asks a standby for a rebuild, and sees its progress and its end', async () => {
    await shown.show('#/projections', '.generations tbody tr');
    const card = shown.card('Rebuild');
    await card.locator('select[name=source]').selectOption('graph');
    await card.locator('input[name=maxRate]').fill('10');
    await card.locator('button[type=submit]').click();
    await card.locator('progress').waitFor(REACTS);
    await card.locator('.progress p.quiet', { hasText: /\d+ of \d+, .* a second/ }).waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
    await card.locator('[role=status]', { hasText: 'Generation 2 serves now' }).waitFor({ timeout: 180_000 });
    await expect.poll(() => liveAt(leader), REACTS).toBe(2);
    await canRead();
    expect(await shown.problems()).toEqual([]);
  });

  test('an operator verifies the read model at a standby', async () => {
    const card = shown.card('Verification');
    await card.locator('input[type=radio]').nth(1).check();
    await card.locator('button:text-is("Compare")').click();
    await card.locator('[role=status].good', { hasText: 'no differences' }).waitFor({ timeout: 180_000 });
    expect(await card.locator('[role=status]').textContent()).toMatch(/^Compared [1-9]\d* rows .* events/);
  });

  test('an operator rolls back at a standby, and drops the other generation', async () => {
    const card = shown.card('Generations');
    await card.locator('.elsewhere').waitFor(REACTS);
    await card.locator('button:text-is("Roll back")').click();
    await shown.confirm('rollback');
    await card.locator('[role=status]:has-text("Roll back: Done.")').waitFor({ timeout: 120_000 });
    await expect.poll(() => liveAt(leader), REACTS).toBe(1);
    await canRead();
    await card.locator('button:text-is("Drop the kept generation")').click();
    await shown.confirm('drop');
    await card.locator('[role=status]:has-text("Drop the kept generation: Done.")').waitFor(REACTS);
    const { data } = (await askAt(leader)('/_varve/state')).body;
    expect(data.generations).toMatchObject([{ number: 1, state: 'live' }]);
    expect(await shown.problems()).toEqual([]);
  });

  test('an operator sees that Elasticsearch does not answer, and that it does again', async () => {
    await shown.show('#/overview', '.events tbody tr');
    proxy.lose();
    const warning = shown.page.locator('.warning', { hasText: 'read-index-unreachable' });
    await warning.waitFor(REACTS);
    expect(await warning.locator('.runbook').first().textContent()).toContain('Runbook, ');
    const stage = shown.page.locator('.stage.wrong', { hasText: 'Read index (elasticsearch)' });
    await stage.waitFor(REACTS);
    expect(await stage.textContent()).toContain('does not answer');
    expect(await problems()).toEqual([]);
    proxy.restore();
    await sentence(/^All is right: 3 processes serve/);
    await stage.waitFor({ state: 'detached', ...REACTS });
    await canRead();
  });

  test('an operator sees that a process was killed, which one is the leader now, and that it is back', async () => {
    await shown.show('#/overview', '.events tbody tr');
    const killed = leader.server().supervisor;
    await leader.end('SIGKILL');
    await rowOf(leader).locator('.light.lost', { hasText: 'silent for' }).waitFor(REACTS);
    await sentence(`${killed} on`);
    await shown.page.locator('.warning', { hasText: 'process-silent' }).waitFor(REACTS);
    await leaderOf([standby]);
    await rowOf(standby).locator('.badge', { hasText: 'leader · epoch' }).waitFor(REACTS);
    expect(await problems()).toEqual([]);
    await leader.start();
    await sentence(/^All is right: 3 processes serve/);
    expect(await rowOf(leader).locator('td:nth-child(3)').textContent(REACTS)).toBe('standby');
    const rows = shown.page.locator('[aria-label=Processes] tbody tr');
    expect(await rows.filter({ hasText: ` ${killed} on ` }).count()).toBe(0);
    await canRead();
  });
});
