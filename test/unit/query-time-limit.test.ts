import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { embeddedReadSide } from '../../services/read-side/embedded-read-side.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { openInProcess } from '../support/varve-in-process.ts';

/** A limit in milliseconds that every query of several parts exceeds. */
const INSTANT = 1e-6;

async function contentApi() {
  const data = mkdtempSync(join(tmpdir(), 'varve-time-limit-'));
  const varve = await openInProcess(data, { readSide: embeddedReadSide({ queryTimeLimit: INSTANT }) });
  onTestFinished(async () => {
    await varve.close();
    rmSync(data, { recursive: true, force: true });
  });
  const restaurants = contentTypeOf(varve.registry, 'api::restaurant.restaurant');
  return { content: varve.apiFor(FULL_ACCESS).content, restaurants };
}

const EXPENSIVE = [1, 2, 3, 4, 5, 6].map((n) => `[$or][${n}][name][$ne]=${n}`);
const body = (key: string) => ({ data: { key, name: `Restaurant ${key}` } });

it('refuses a list that takes longer than the limit, and still answers others', async () => {
  const { content, restaurants } = await contentApi();
  const expensive = EXPENSIVE.map((filter) => `filters${filter}`).join('&');
  await expect(content.list(restaurants, expensive)).rejects.toMatchObject({
    code: 'query-too-expensive',
    message: 'Invalid query: it takes more than 0.000001 ms to answer',
  });
  expect(String(await content.list(restaurants, ''))).toContain('"data":[]');
});

it('stores a write whose answer takes longer than the limit, and omits the entry from the answer', async () => {
  const { content, restaurants } = await contentApi();
  const expensive = EXPENSIVE.map((filter) => `populate[tags][filters]${filter}`).join('&');
  const answer = await content.create(restaurants, expensive, body('a'));
  expect(answer.body).toBeNull();
  expect(answer.position).toBeGreaterThan(0n);
  expect(String(await content.entry(restaurants, answer.documentId, ''))).toContain('"name":"Restaurant a"');
});
