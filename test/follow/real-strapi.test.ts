import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AS_RECORDED, runCorpus } from '../conformance/run-corpus.ts';
import { jsonOf } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { needsStrapi, type StrapiNode, startStrapi } from '../support/strapi-node.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { createEditor, createRandom, type Edit } from './random-edits.ts';
import { differences } from './same-reads.ts';
import { startWebhookRelay, type WebhookRelay } from './webhook-relay.ts';

/** Number of edits. VARVE_FOLLOW_EDITS=2000 for a full run. */
const EDITS = Number(process.env['VARVE_FOLLOW_EDITS'] ?? 60);
const SEED = Number(process.env['VARVE_FOLLOW_SEED'] ?? 1);
const SECRET = 'a secret of this test alone';

type Status = {
  readonly follow: {
    readonly isComplete: boolean;
    readonly ageSeconds: number;
    readonly comparison: { readonly at: string };
    readonly pending: number;
    readonly stuck: readonly string[];
    readonly events: number;
    readonly refused: object;
  };
};

describe('following a real Strapi', needsStrapi(takesMinutes('following a real Strapi')), () => {
  let relay: WebhookRelay;
  let strapi: StrapiNode;
  let varve: RunningServer;
  const status = async () => (await jsonOf<Status>(['status', '--json', '--data', varve.data])).follow;
  /** Resolves when the follower has compared everything once more. */
  const compared = async () => {
    const since = new Date().toISOString();
    for (;;) {
      const { comparison, pending } = await status();
      if (comparison !== null && comparison.at > since && pending === 0) return;
      await delay(200);
    }
  };

  beforeAll(async () => {
    relay = await startWebhookRelay();
    strapi = await startStrapi({ database: 'varve_follow', webhook: { url: relay.url, secret: SECRET } });
    varve = await startServer({
      env: { ...AS_RECORDED, VARVE_FOLLOW_WEBHOOK_SECRET: SECRET, VARVE_FOLLOW_TOKEN: await strapi.token() },
      arguments: ['--follow', strapi.url, '--follow-interval', '10s', '--follow-rate', '10'],
    });
    await compared();
  }, 600_000);

  afterAll(async () => {
    await varve?.dispose();
    await strapi?.stop();
    await relay?.close();
  });

  it('answers every read of the corpus that it contains', { timeout: 600_000 }, async () => {
    const { code, output } = await runCorpus(varve.url, ['--file', writeReadCases()], 'collect');
    expect(code, output.slice(-3000)).toBe(0);
    expect(await differences(strapi.url, varve.url)).toEqual([]);
  });

  it(`equals Strapi after ${EDITS} edits, with three of ten webhooks lost and Strapi killed twice`, {
    timeout: 300_000 + EDITS * 2_000,
  }, async () => {
    const random = createRandom(SEED);
    relay.to(varve.url, () => random() < 0.3);
    const editor = createEditor(strapi, random);
    const lags: number[] = [];
    const kinds = new Map<string, number>();
    for (let n = 0; n < EDITS; n++) {
      const { lost } = relay.counts();
      const edit = await editor.edit();
      const kind = edit.what.split(' ')[0] ?? '';
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const lag = await lagOf(varve.url, edit, () => relay.counts().lost > lost);
      if (lag !== undefined) lags.push(lag);
      if (n === Math.floor(EDITS / 3) || n === Math.floor((2 * EDITS) / 3)) {
        await strapi.kill();
        await strapi.start();
      }
    }
    await delay(10_000);
    await compared();
    const after = await status();
    lags.sort((a, b) => a - b);
    const at = (share: number) => Math.round(lags[Math.floor(lags.length * share)] ?? 0);
    console.log(
      `edits: ${JSON.stringify(Object.fromEntries(kinds))}; webhooks: ${JSON.stringify(relay.counts())}; ` +
        `lag of ${lags.length}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; events: ${after.events}`,
    );
    expect(await differences(strapi.url, varve.url)).toEqual([]);
    expect(after.stuck).toEqual([]);
    expect(after.refused).toEqual({});
  });
});

/** Writes the cases of the corpus that only read to a file. */
function writeReadCases(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-read-cases-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lines = ['cases-visible.jsonl', 'random-visible.jsonl'].flatMap((file) =>
    readFileSync(join(import.meta.dirname, '../conformance', file), 'utf8')
      .split('\n')
      .filter(Boolean),
  );
  const file = join(folder, 'reads.jsonl');
  const isRead = (line: string) =>
    (JSON.parse(line) as { request?: { method: string } }).request?.method === 'GET';
  writeFileSync(file, lines.filter(isRead).join('\n'));
  return file;
}

/** Returns the milliseconds until the follower shows an edit. undefined: its webhook was lost, or it has no visible effect. */
async function lagOf(url: string, { shows }: Edit, isLost: () => boolean): Promise<number | undefined> {
  if (shows === undefined) return undefined;
  const edited = performance.now();
  while (performance.now() - edited < 10_000) {
    const response = await fetch(`${url}${shows.path}&fields=updatedAt`);
    const { data } = (await response.json()) as { data: { updatedAt: string } | null };
    if (isLost()) return undefined;
    if (data !== null && data.updatedAt >= shows.updatedAt) return performance.now() - edited;
    await delay(5);
  }
  return performance.now() - edited;
}
