import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createPresence } from '../../services/fleet/presence.ts';
import { openVarve } from '../../services/main.ts';
import { createOperating } from '../../services/operating/operating.ts';
import { embeddedReadSide } from '../../services/read-side/read-side.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';

/** So little that every query of several parts takes longer. */
const INSTANT = 1e-6;

async function contentApi() {
  const loaded = loadContentTypes(CONFORMANCE_SCHEMA);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const data = mkdtempSync(join(tmpdir(), 'varve-time-limit-'));
  const logger = pino({ level: 'silent' });
  const varve = await openVarve({
    ...loaded,
    schemaWarnings: loaded.warnings,
    data,
    pid: process.pid,
    space: 'varve',
    defaultLocale: 'en',
    usersEnvelope: true,
    readSide: embeddedReadSide({ queryTimeLimit: INSTANT }),
    rules: {},
    uploadLimit: 1,
    uploadTypes: ['*/*'],
    pictureFormats: 'off',
    picturePixels: 1,
    leftWithoutFormats: () => {},
    minPositionWait: 1_000,
    presence: createPresence(),
    address: 'http://127.0.0.1:9',
    reportReplaced: () => {},
    fleetLog: { waiting: () => {}, report: () => {}, space: () => {} },
    operating: createOperating({
      metrics: false,
      restarts: 0,
      tracing: undefined,
      logger,
      slowQueryMs: 0,
      readyLagSeconds: 30,
      version: '0.0.0',
    }),
  });
  onTestFinished(async () => {
    await varve.close();
    rmSync(data, { recursive: true, force: true });
  });
  const restaurants = contentTypeOf(loaded.registry, 'api::restaurant.restaurant');
  return { content: varve.apiFor(FULL_ACCESS).content, restaurants };
}

const EXPENSIVE = [1, 2, 3, 4, 5, 6].map((n) => `[$or][${n}][name][$ne]=${n}`);
const body = (key: string) => ({ data: { key, name: `Restaurant ${key}` } });

it('refuses a list that takes longer than the limit, and goes on answering others', async () => {
  const { content, restaurants } = await contentApi();
  const expensive = EXPENSIVE.map((filter) => `filters${filter}`).join('&');
  await expect(content.list(restaurants, expensive)).rejects.toMatchObject({
    code: 'query-too-expensive',
    message: 'Invalid query: it takes more than 0.000001 ms to answer',
  });
  expect(String(await content.list(restaurants, ''))).toContain('"data":[]');
});

it('stores a write whose answer takes longer than the limit, and leaves the entry out of the answer', async () => {
  const { content, restaurants } = await contentApi();
  const expensive = EXPENSIVE.map((filter) => `populate[tags][filters]${filter}`).join('&');
  const answer = await content.create(restaurants, expensive, body('a'));
  expect(answer.body).toBeNull();
  expect(answer.position).toBeGreaterThan(0n);
  expect(String(await content.entry(restaurants, answer.documentId, ''))).toContain('"name":"Restaurant a"');
});
